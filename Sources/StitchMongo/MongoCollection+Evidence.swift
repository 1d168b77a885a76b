#if MongoRemote
    internal import BSONStore
    internal import StitchSync

    /// What a server tells of a collection beside its documents, so that absence can be judged.
    extension MongoCollection {
        /// Says which collection a server has under a name.
        enum Identity: Hashable, Sendable {
            /// The server does not tell, or the user may not ask.
            case unknown
            /// There is no such collection.
            case notMade
            /// The collection's UUID.
            case known(BSONBinary)
        }

        /// Which collection the server has under this name.
        ///
        /// Source: MongoDB manual, "listCollections": `info.uuid`.
        func identity() async throws(RemoteError) -> Identity {
            let namespace = namespace
            let reply: BSONDocument
            do throws(RemoteError) {
                reply = try await connection.request { (client) throws(MongoFailure) in
                    try client.run(
                        [
                            "listCollections": 1,
                            "filter": ["name": .string(namespace.collection)],
                            "nameOnly": false,
                        ], on: namespace.database, .read)
                }
            } catch {
                guard error.code == Self.unauthorized else { throw error }
                return .unknown
            }
            let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
            guard let batch else { return .unknown }
            guard let entry = batch.first?.documentValue else { return .notMade }
            guard case .binary(let uuid)? = entry["info"]?.documentValue?["uuid"] else {
                return .unknown
            }
            return .known(uuid)
        }

        /// What the server knows of deletions, for each id in turn; `nil` everywhere where it keeps no
        /// tombstones, as MongoDB does not.
        func tombstones(
            ids: [BSONValue]
        ) async throws(RemoteError) -> [StoreTombstone?] {
            let namespace = namespace
            let none = [StoreTombstone?](repeating: nil, count: ids.count)
            guard !ids.isEmpty, try await keepsTombstones() else { return none }
            var found: [StoreTombstone?] = []
            for start in stride(from: 0, to: ids.count, by: Self.tombstoneIDsMax) {
                let some = Array(ids[start..<min(ids.count, start + Self.tombstoneIDsMax)])
                let reply = try await connection.request { (client) throws(MongoFailure) in
                    try client.run(
                        [
                            "stitchsyncTombstones": .string(namespace.collection),
                            "ids": .array(BSONArray(some)),
                        ], on: namespace.database, .read)
                }
                let answers = reply["tombstones"]?.arrayValue.map(Array.init) ?? []
                // An answer of another length cannot be told apart from none.
                guard answers.count == some.count else { return none }
                for (id, answer) in zip(some, answers) {
                    found.append(Self.tombstone(of: id, answer))
                }
            }
            return found
        }

        /// So many ids are asked about with one command.
        private static var tombstoneIDsMax: Int { 1_000 }
        private static var unauthorized: Int { 13 }

        private func keepsTombstones() async throws(RemoteError) -> Bool {
            let hello = try await connection.request { (client) throws(MongoFailure) in
                try client.run(["hello": 1], on: "admin", .read)
            }
            return hello["stitchsync"]?.documentValue?["tombstones"]?.int32Value == 1
        }

        private static func tombstone(of id: BSONValue, _ answer: BSONValue) -> StoreTombstone? {
            guard let document = answer.documentValue, let told = document["_id"],
                BSONKey.encode(told) == BSONKey.encode(id),
                case .datetime(let time)? = document["time"]
            else { return nil }
            return StoreTombstone(
                documentID: id, version: document["version"], deletedAt: time)
        }
    }
#endif
