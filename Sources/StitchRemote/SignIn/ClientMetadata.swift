#if Remote
    internal import BSONStore
    internal import StitchSync

    /// The description of the client in the first message of a connection.
    ///
    /// Source: the drivers' specification "MongoDB Handshake", with at most 512 bytes.
    struct ClientMetadata: Sendable {
        let applicationName: String
        let applicationVersion: String?
        /// The device, once an engine uses the remote.
        var device: DeviceIdentity?
        /// Returns what waits on the device; `nil` if it is not known.
        var backlog: @Sendable () -> DeviceBacklog? = { nil }

        /// The description; a long name or version of the application is cut.
        var document: BSONDocument {
            var document: BSONDocument = [
                "application": ["name": .string(Self.cut(applicationName, to: 128))],
                "driver": ["name": "StitchRemote", "version": "0.1.0"],
                "os": ["type": .string(Self.system)], "platform": "Swift",
            ]
            // Servers ignore fields that they do not know.
            var own = BSONDocument()
            if let applicationVersion {
                own.append("appVersion", .string(Self.cut(applicationVersion, to: 64)))
            }
            if let device {
                own.append("device", .string(String(device.first, radix: 16)))
                own.append("instance", .string(String(device.instance, radix: 16)))
            }
            // Without the numbers the server keeps those that it knows.
            if let backlog = backlog() {
                own.append("pending", .int64(Int64(backlog.pending)))
                own.append("paused", .int64(Int64(backlog.paused)))
                own.append("rejected", .int64(Int64(backlog.rejected)))
            }
            if !own.isEmpty { document.append("stitchsync", .document(own)) }
            return document
        }

        private static func cut(_ text: String, to bytesMax: Int) -> String {
            var result = ""
            for character in text.unicodeScalars
            where result.utf8.count + UTF8.width(character) <= bytesMax && character.value != 0 {
                result.unicodeScalars.append(character)
            }
            return result
        }

        private static var system: String {
            #if canImport(Darwin)
                "Darwin"
            #else
                "Linux"
            #endif
        }
    }
#endif
