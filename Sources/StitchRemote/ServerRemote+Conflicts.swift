#if Remote
    package import BSONStore
    internal import StitchCommands
    package import StitchSync

    extension ServerRemote: ConflictCollector {
        /// Sends conflicts to `stitchsync serve` or a gateway, each as the bytes of its document.
        ///
        /// - Throws: `RemoteError` of class `.rejected` where the server takes no conflicts, as MongoDB.
        package func share(
            _ conflicts: [BSONDocument], in namespace: Namespace
        ) async throws(RemoteError) {
            let command: BSONDocument = [
                "stitchsyncShareConflict": .string(namespace.collection),
                "conflicts": .array(
                    BSONArray(conflicts.map { .binary(BSONBinary($0.bytes)) })),
            ]
            do throws(MongoFailure) {
                _ = try await connections.run(command, on: namespace.database, .read)
            } catch {
                guard error.kind == .server, error.code == Self.commandNotFound else {
                    throw error.remoteError
                }
                throw RemoteError(
                    .rejected, code: error.code, "the server takes no conflicts of devices")
            }
        }

        private static let commandNotFound = 59
    }
#endif
