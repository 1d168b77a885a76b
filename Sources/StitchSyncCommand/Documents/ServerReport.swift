#if CommandLine && Server
    import BSONStore

    /// The contents of a server and what happened at it, as `status` prints it.
    struct ServerReport: Sendable {
        /// The server's address without the password.
        private let place: String
        private let listings: [CollectionListing]
        /// The numbers that only administrators may read; `nil` where the server refuses them.
        private let devices: Int?
        private let denied: Int?
        private let conflicts: Int?

        /// The code of a server that refuses a user what only an administrator may read.
        private static let unauthorized: Double = 13

        /// Reads what a server holds.
        ///
        /// - Throws: `CommandError` if a command fails for another reason than the user's rights.
        init(of source: DocumentSource, at place: String) throws {
            self.place = place
            listings = try CollectionListing.all(source, in: nil)
            devices = try Self.answer(source, ListedDevice.request, "admin")
                .map { reply in ListedDevice.devices(of: reply).count(where: \.isConnected) }
            denied = try Self.count("denied", source)
            conflicts = try Self.count("conflicts", source)
        }

        private static func count(_ collection: String, _ source: DocumentSource) throws -> Int? {
            try answer(source, ["count": .string(collection)], ServerDatabase.journals)
                .map { Int($0.number("n")) }
        }

        /// Returns the reply to a command; `nil` if the user lacks the right.
        private static func answer(
            _ source: DocumentSource, _ command: BSONDocument, _ database: String
        ) throws -> BSONDocument? {
            let reply = try source.reply(to: command, on: database)
            guard reply.number("ok") != 1, reply.number("code") == unauthorized else {
                return try source.checked(reply)
            }
            return nil
        }

        /// The table of the collections and the lines below it.
        var lines: [String] {
            var table = TextTable(Array(CollectionListing.titles.dropLast()))
            for listing in listings { table.append(Array(listing.row.dropLast())) }
            let address = ShellWord(place)
            var lines = table.lines
            if let devices {
                lines.append("devices: \(devices) connected; see `stitchsync who \(address)`")
            }
            if let denied, denied > 0 {
                lines.append(
                    "denied writes: \(denied); see `stitchsync find \(address) stitchsync.denied "
                        + "--sort '{time: -1}' --limit 10`")
            }
            if let conflicts, conflicts > 0 {
                lines.append(
                    "shared conflicts: \(conflicts); see `stitchsync fixture record --from "
                        + "\(address)`")
            }
            if devices == nil || denied == nil {
                lines.append(
                    "not shown to this user: devices, denied writes and shared conflicts; name an "
                        + "administrator by --user")
            }
            return lines
        }

        /// The collections and, at the end, the server as JSON objects.
        var objects: [BSONDocument] {
            func number(_ count: Int?) -> BSONValue { count.map { .int64(Int64($0)) } ?? .null }
            return listings.map { $0.object.leavingOut("synced") } + [
                [
                    "devices": number(devices), "deniedWrites": number(denied),
                    "sharedConflicts": number(conflicts),
                ]
            ]
        }
    }
#endif
