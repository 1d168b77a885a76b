#if CommandLine && Server
    import BSONStore

    /// A user as the commands print it.
    struct UserListing: Sendable {
        /// The user in the form of `usersInfo`.
        let document: BSONDocument

        static let titles = ["user", "database", "state", "roles"]

        /// Returns the users of a reply to `usersInfo`.
        static func users(_ reply: BSONDocument) -> [UserListing] {
            (reply["users"]?.arrayValue ?? []).compactMap(\.documentValue).map(UserListing.init)
        }

        /// The line of the table.
        var row: [String] {
            let roles = (document["roles"]?.arrayValue ?? []).compactMap(\.documentValue).map {
                "\($0["role"]?.stringValue ?? "")@\($0["db"]?.stringValue ?? "")"
            }
            return [
                document["user"]?.stringValue ?? "", document["db"]?.stringValue ?? "", state,
                roles.isEmpty ? "-" : roles.joined(separator: ","),
            ]
        }

        private var state: String {
            if document["registeredAs"] != nil { return "registered" }
            if document["deleted"]?.boolValue == true { return "deleted" }
            if document["disabled"]?.boolValue == true { return "disabled" }
            return document["signedUp"]?.boolValue == true ? "signed up" : "active"
        }

        /// Prints users as a table, or as one JSON object each.
        static func say(_ users: [UserListing], asJSON json: Bool) throws {
            let console = Console.standard
            if json {
                return try users.forEach { try console.say($0.document.extendedJSON(.relaxed)) }
            }
            var table = TextTable(titles)
            for user in users { table.append(user.row) }
            for line in table.lines { try console.say(line) }
        }
    }
#endif
