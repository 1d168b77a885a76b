#if Remote
    internal import BSONStore

    /// The description of the client in the first message of a connection.
    ///
    /// Source: the drivers' specification "MongoDB Handshake", with at most 512 bytes.
    enum ClientMetadata {
        /// Returns the description; a long name of an application is cut.
        static func document(applicationName: String) -> BSONDocument {
            var name = ""
            for character in applicationName.unicodeScalars
            where name.utf8.count + UTF8.width(character) <= 128 && character.value != 0 {
                name.unicodeScalars.append(character)
            }
            return [
                "application": ["name": .string(name)],
                "driver": ["name": "StitchRemote", "version": "0.1.0"],
                "os": ["type": .string(system)], "platform": "Swift",
            ]
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
