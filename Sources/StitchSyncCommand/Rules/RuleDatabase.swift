#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import Foundation
    import StitchServer

    /// The database with whose users and documents rules are tried: a store's file, or a server.
    struct RuleDatabase: RuleDocuments {
        /// The maximum number of documents of a collection; of more a sample is taken.
        static let documentsMax = 10_000

        private let source: DocumentSource

        /// Opens a file, or connects to a server, and lends it to a body on a thread of its own.
        static func run<R: Sendable>(
            at place: String, _ signIn: RuleSignInArguments,
            _ body: @escaping @Sendable (RuleDatabase) throws -> R
        ) async throws -> R {
            try await DocumentSource.run(at: place, signIn) { try body(RuleDatabase(source: $0)) }
        }

        /// Returns the path of a folder of rules.
        ///
        /// - Throws: `CommandError` if there is none.
        static func folder(_ path: String) throws -> String {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
                isFolder.boolValue
            else { throw CommandError("\(path): there is no such folder") }
            return path
        }

        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            try source.run(command, on: database)
        }

        func documents(_ command: BSONDocument, on database: String) throws -> [BSONDocument] {
            try source.documents(command, on: database)
        }

        /// Returns the documents of a collection, or a sample of many, and their number.
        func sample(_ namespace: Namespace) throws -> (documents: [BSONDocument], count: Int) {
            try sample(namespace, max: Self.documentsMax)
        }

        /// Returns a user.
        ///
        /// - Throws: `CommandError` if there is no such user.
        func existingUser(_ name: String, on database: String) throws -> RuledUser {
            guard let user = try user(name, on: database) else {
                throw CommandError("\(name): the database \(database) has no such user")
            }
            return user
        }
    }

    /// The administrator as whom a command that tries rules signs in to a server.
    ///
    /// Its option is `--admin`, since `--user` is the user for whom rules are tried.
    struct RuleSignInArguments: ParsableArguments, ServerSignIn {
        @Option(help: "The administrator of a server, if the URI names none.")
        var admin: String?

        @Option(
            help: """
                The file whose first line is the administrator's password; without it, the \
                variable STITCHSYNC_PASSWORD, or the terminal.
                """, completion: .file())
        var passwordFile: String?

        var user: String? { admin }
        var userOption: String { "--admin" }
    }
#endif
