internal import BSONStore

/// The checks that collections still have the UUIDs that a command names.
///
/// Source: the server's `collection_uuid_mismatch.cpp` and `collection_uuid_mismatch_info.idl`.
enum CollectionUUIDCheck {
    /// A UUID that a command gives to a collection.
    private struct Claim {
        let uuid: BSONValue
        /// The field that names it.
        let field: String
        let namespace: Namespace
    }

    /// Whether a command, or the one that it explains, names the UUID of a collection.
    static func isAsked(by call: CommandCall) -> Bool {
        !claims(of: call).isEmpty || call.target.documentValue?["collectionUUID"] != nil
    }

    /// Checks the UUIDs that a command names, in the transaction that carries it out.
    ///
    /// - Throws: 361 (CollectionUUIDMismatch), with the collection that has the UUID; 14 for a value
    ///   that is no UUID.
    static func check(_ call: CommandCall, in transaction: ReadTransaction) throws {
        for claim in claims(of: call) { try check(claim, call, transaction) }
    }

    private static func claims(of call: CommandCall) -> [Claim] {
        switch call.name {
        case "renameCollection":
            let fields = [("collectionUUID", call.target), ("dropTarget", call["to"] ?? .null)]
            return fields.compactMap { field, name in
                guard let uuid = call[field], field == "collectionUUID" || uuid.type == .binary
                else { return nil }
                return claim(uuid, field, name.stringValue)
            }
        case "bulkWrite":
            let targets =
                call.sequences["nsInfo"] ?? call.array("nsInfo")?.compactMap(\.documentValue)
            return (targets ?? []).compactMap { target in
                guard let uuid = target["collectionUUID"] else { return nil }
                return claim(uuid, "nsInfo.collectionUUID", target["ns"]?.stringValue)
            }
        default:
            guard let uuid = call["collectionUUID"], let name = call.target.stringValue else {
                return []
            }
            let namespace = Namespace(call.database, name)
            return [Claim(uuid: uuid, field: "collectionUUID", namespace: namespace)]
        }
    }

    private static func claim(_ uuid: BSONValue, _ field: String, _ name: String?) -> Claim? {
        guard let name, let parts = name.splitAtFirstDot else { return nil }
        return Claim(
            uuid: uuid, field: field, namespace: Namespace(parts.head, parts.tail))
    }

    private static func check(
        _ claim: Claim, _ call: CommandCall, _ transaction: ReadTransaction
    ) throws {
        guard case .binary(let binary) = claim.uuid, binary.subtype == 4 else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '\(call.name).\(claim.field)' is the wrong type "
                    + "'\(claim.uuid.type.alias)', expected type 'binData'")
        }
        guard try transaction.uuid(claim.namespace) != claim.uuid else { return }
        let actual = try transaction.collections().first { other in
            try other.database.hasSameBytes(as: claim.namespace.database)
                && transaction.uuid(other) == claim.uuid
        }
        throw CommandFailure(
            361, "Collection UUID does not match that specified",
            details: [
                "db": .string(claim.namespace.database), "collectionUUID": claim.uuid,
                "expectedCollection": .string(claim.namespace.collection),
                "actualCollection": actual.map { BSONValue.string($0.collection) } ?? .null,
            ])
    }
}
