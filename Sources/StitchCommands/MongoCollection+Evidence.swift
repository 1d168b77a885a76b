package import BSONStore
package import StitchSync

/// The server's other facts about a collection, which help to interpret a missing document.
extension MongoCollection {
    /// Returns the identity of the collection that has this name on the server.
    ///
    /// Source: MongoDB manual, "listCollections": `info.uuid`.
    package func identity() async throws(RemoteError) -> RemoteIdentity {
        let reply: BSONDocument
        do throws(RemoteError) {
            reply = try await read([
                "listCollections": 1, "filter": ["name": .string(namespace.collection)],
                "nameOnly": false,
            ])
        } catch {
            guard error.code == Self.unauthorized else { throw error }
            return .unknown
        }
        let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
        guard let batch else { return .unknown }
        guard let entry = batch.values.first?.documentValue else { return .notMade }
        guard case .binary(let uuid)? = entry["info"]?.documentValue?["uuid"] else {
            return .unknown
        }
        return .known(uuid)
    }

    /// Returns the tombstones of documents in the order of their ids; all `nil` from a server
    /// without tombstones, such as MongoDB.
    package func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        let none = [RemoteTombstone?](repeating: nil, count: ids.count)
        guard !ids.isEmpty, try await keepsTombstones() else { return none }
        var found: [RemoteTombstone?] = []
        for start in stride(from: 0, to: ids.count, by: Self.tombstoneIDsMax) {
            let some = Array(ids[start..<min(ids.count, start + Self.tombstoneIDsMax)])
            var command: BSONDocument = [
                "stitchsyncTombstones": .string(namespace.collection),
                "ids": .array(BSONArray(some)),
            ]
            if let place { command.append("after", .document(place.document)) }
            let reply = try await read(command)
            let answers = reply["tombstones"]?.arrayValue.map(Array.init) ?? []
            // An answer of another length cannot be matched with the ids.
            guard answers.count == some.count else { return none }
            for (id, answer) in zip(some, answers) {
                found.append(Self.tombstone(of: id, answer))
            }
        }
        return found
    }

    /// The largest number of ids in one command.
    private static var tombstoneIDsMax: Int { 1_000 }
    private static var unauthorized: Int { 13 }

    private func keepsTombstones() async throws(RemoteError) -> Bool {
        let hello = try await read(["hello": 1], on: "admin")
        return ServerExtension.tombstones.isNamed(in: hello)
    }

    private static func tombstone(of id: BSONValue, _ answer: BSONValue) -> RemoteTombstone? {
        guard let document = answer.documentValue, let found = document["_id"],
            BSONKey.encode(found) == BSONKey.encode(id)
        else { return nil }
        let version =
            document["version"].map { BSONDocument([(DocumentVersion.fieldName, $0)]) } ?? [:]
        return RemoteTombstone(
            version: VersionField(of: version),
            isAfterPlace: document["isAfter"]?.boolValue ?? false)
    }
}
