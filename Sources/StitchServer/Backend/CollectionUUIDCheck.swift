internal import BSONStore

/// A check that a collection still has the UUID that a command names.
///
/// Source: the server's `collection_uuid_mismatch.cpp` and `collection_uuid_mismatch_info.idl`.
enum CollectionUUIDCheck {
    /// Checks the argument `collectionUUID` of a command for one collection.
    ///
    /// - Throws: 361 (CollectionUUIDMismatch), with the collection that has the UUID; 14 for a value
    ///   that is no UUID.
    static func check(_ call: CommandCall, _ backend: StoreBackend) throws {
        guard let uuid = call["collectionUUID"], let name = call.target.stringValue,
            !call.signature.traits.contains(.adminOnly)
        else { return }
        try check(uuid, "collectionUUID", Namespace(call.database, name), call, backend)
    }

    /// Checks the UUID that a field of a command gives to a collection.
    ///
    /// - Throws: 361 (CollectionUUIDMismatch), 14.
    static func check(
        _ uuid: BSONValue, _ field: String, _ namespace: Namespace, _ call: CommandCall,
        _ backend: StoreBackend
    ) throws {
        guard case .binary(let binary) = uuid, binary.subtype == 4 else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '\(call.signature.name).\(field)' is the wrong type "
                    + "'\(uuid.type.alias)', expected type 'binData'")
        }
        let actual = try backend.read(call) { (transaction) throws -> Namespace? in
            if try transaction.uuid(namespace) == uuid { return namespace }
            return try transaction.collections().first { other in
                try other.database.hasSameBytes(as: namespace.database)
                    && transaction.uuid(other) == uuid
            }
        }
        guard actual != namespace else { return }
        throw CommandFailure(
            361, "Collection UUID does not match that specified",
            details: [
                "db": .string(namespace.database), "collectionUUID": uuid,
                "expectedCollection": .string(namespace.collection),
                "actualCollection": actual.map { BSONValue.string($0.collection) } ?? .null,
            ])
    }
}
