#if CommandLine && Server
    import BSONStore
    import Foundation
    import StitchRemote
    import StitchServer

    /// The database with whose users and documents rules are tried: a store's file, or a server.
    struct RuleDatabase {
        private enum Place {
            case file(FileShellServer)
            #if Remote
                case server(ServerRemote)
            #endif
        }

        private let place: Place

        /// The maximum number of documents of a collection; of more a sample is taken.
        static let documentsMax = 10_000

        /// Opens a file, or connects to a server.
        init(_ text: String) throws {
            guard SessionRemote.isServer(text) else {
                // Opened as it is first, so that a missing file is not created.
                try StoreOpening.existing(text).close()
                place = .file(try FileShellServer(text))
                return
            }
            #if Remote
                place = .server(try ServerRemote(text, signIn: .none))
            #else
                throw SessionRemote.lacksServers
            #endif
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

        /// Runs a command.
        ///
        /// - Throws: `CommandError` with the error of the reply.
        func run(_ command: BSONDocument, on database: String) async throws -> BSONDocument {
            let reply =
                switch place {
                case .file(let server): try server.run(command, on: database)
                #if Remote
                    case .server(let remote): try await remote.run(command, on: database)
                #endif
                }
            guard reply.number("ok") == 1 else { throw CommandError(reply.text("errmsg")) }
            return reply
        }

        /// Runs a command that opens a cursor, and returns all documents.
        func documents(_ command: BSONDocument, on database: String) async throws -> [BSONDocument]
        {
            var cursor = try await run(command, on: database)["cursor"]?.documentValue
            let first = cursor?["firstBatch"]?.arrayValue ?? []
            var documents = first.compactMap(\.documentValue)
            while let id = cursor?["id"]?.int64Value, id != 0,
                let name = cursor?["ns"]?.stringValue
            {
                let collection = name.drop { $0 != "." }.dropFirst()
                cursor = try await run(
                    ["getMore": .int64(id), "collection": .string(String(collection))],
                    on: database)["cursor"]?.documentValue
                let next = cursor?["nextBatch"]?.arrayValue ?? []
                documents += next.compactMap(\.documentValue)
            }
            return documents
        }

        /// Returns the documents of a collection, or a sample of many, and their number.
        func sample(_ namespace: Namespace) async throws -> ([BSONDocument], count: Int) {
            let reply = try await run(
                ["count": .string(namespace.collection)], on: namespace.database)
            let count = Int(reply["n"]?.int64Value ?? 0)
            guard count > Self.documentsMax else {
                let all = try await documents(
                    ["find": .string(namespace.collection)], on: namespace.database)
                return (all, all.count)
            }
            let stage: BSONValue = ["$sample": ["size": .int64(Int64(Self.documentsMax))]]
            let sample = try await documents(
                [
                    "aggregate": .string(namespace.collection), "pipeline": [stage], "cursor": [:],
                ], on: namespace.database)
            return (sample, count)
        }

        /// Returns the collections of all databases but the server's own, in order.
        func collections() async throws -> [Namespace] {
            let reply = try await run(["listDatabases": 1, "nameOnly": true], on: "admin")
            let names = (reply["databases"]?.arrayValue ?? []).compactMap {
                $0.documentValue?["name"]?.stringValue
            }
            var found: [Namespace] = []
            for database in names where !Namespace.isOfServer(database: database) {
                let listed = try await documents(
                    ["listCollections": 1, "nameOnly": true], on: database)
                found += listed.filter { $0["type"] == "collection" }.compactMap {
                    $0["name"]?.stringValue
                }.map { Namespace(database, $0) }.filter { !$0.isOfServer }
            }
            return found.sorted { $0.description < $1.description }
        }

        /// Returns all users.
        func users() async throws -> [RuledUser] {
            try await users(["forAllDBs": true], on: "admin")
        }

        /// Returns a user.
        ///
        /// - Throws: `CommandError` if there is no such user.
        func user(_ name: String, on database: String) async throws -> RuledUser {
            guard let user = try await users(.string(name), on: database).first else {
                throw CommandError("\(name): the database \(database) has no such user")
            }
            return user
        }

        private func users(_ named: BSONValue, on database: String) async throws -> [RuledUser] {
            let reply = try await run(["usersInfo": named], on: database)
            return (reply["users"]?.arrayValue ?? []).compactMap(\.documentValue)
                .compactMap(RuledUser.init(listed:))
        }

        /// Returns a user with the custom data that rules read.
        ///
        /// - Parameter given: the custom data of the command line.
        func customized(
            _ user: RuledUser, _ rules: RuleFolder, _ given: RuledUserArguments? = nil
        ) async throws -> RuledUser {
            var user = user
            if let data = given?.customData {
                user.setCustomData(data)
            } else if let query = rules.customDataQuery(of: user) {
                user.setCustomData(
                    try await documents(query.command, on: query.database).first)
            }
            return user
        }

        /// Closes the file or the connections.
        func close() async {
            switch place {
            case .file(let server): server.close()
            #if Remote
                case .server(let remote): await remote.close()
            #endif
            }
        }
    }
#endif
