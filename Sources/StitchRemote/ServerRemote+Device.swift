#if Remote
    internal import BSONStore
    internal import StitchCommands
    package import StitchSync

    extension ServerRemote: DeviceIntroduction, DeviceReporter {
        /// Names the device to the server, so that operators see which connections are one device.
        package func introduce(
            _ device: DeviceIdentity, backlog: @escaping @Sendable () -> DeviceBacklog?
        ) {
            connections.introduce(device, backlog)
        }

        /// Tells the server what waits on the device; a server that takes no numbers ignores them.
        package func report(_ backlog: DeviceBacklog) async throws(RemoteError) {
            let command: BSONDocument = [
                "stitchsyncReportBacklog": 1, "pending": .int64(Int64(backlog.pending)),
                "paused": .int64(Int64(backlog.paused)),
                "rejected": .int64(Int64(backlog.rejected)),
            ]
            do throws(MongoFailure) {
                guard try await connections.knows(.backlogs) else { return }
                _ = try await connections.run(command, on: "admin", .read)
            } catch {
                throw error.remoteError
            }
        }
    }
#endif
