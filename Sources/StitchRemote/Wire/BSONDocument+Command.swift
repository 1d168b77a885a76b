#if Remote
    internal import BSONStore

    extension BSONDocument {
        /// The command for a database.
        func on(_ database: String) -> BSONDocument {
            var command = self
            command.append("$db", .string(database))
            return command
        }
    }
#endif
