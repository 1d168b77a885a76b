#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The arguments for a store file or a server, and a database or a collection in it.
    struct DatabaseArguments: ParsableArguments {
        /// A collection, a database, or all databases.
        enum Target: Sendable {
            case all
            case database(String)
            case collection(Namespace)
        }

        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @Argument(help: "The collection as database.collection, or a database.")
        var name: String?

        /// - Throws: `ValidationError` for a name that is invalid.
        func target() throws -> Target {
            guard let name else { return .all }
            guard name.contains(".") else { return .database(name) }
            do {
                return .collection(try Namespace(parsing: name))
            } catch {
                throw ValidationError("\(error)")
            }
        }
    }
#endif
