internal import BSONStore

/// The sessions that `killSessions` and `refreshSessions` name.
enum NamedSessions {
    private static let schema = CommandSchema(
        fields: ["id": .any, "uid": .any, "txnNumber": .any, "txnUUID": .any], required: [])

    /// Checks the sessions that a command names.
    ///
    /// - Throws: 14 for a value that is not an array of documents with UUIDs, 40414 without one,
    ///   40415 for another field, 207 (InvalidUUID) for one of another length; the end of the
    ///   command's time.
    static func check(_ named: BSONValue, of command: String) throws {
        let field = "\(command).\(command)"
        for session in try CommandSchema.documents(named, named: field) {
            try WorkBudget.spend()
            try schema.check(session, named: field)
            guard let id = session["id"], id.type != .null else {
                throw CommandFailure(
                    40414, "BSON field '\(field).id' is missing but a required field")
            }
            guard case .binary(let uuid) = id, uuid.subtype == 4 else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field '\(field).id' is the wrong type '\(id.type.alias)', expected type "
                        + "'UUID'")
            }
            guard uuid.bytes.count == 16 else {
                throw CommandFailure(
                    207, "uuid must be a 16-byte binary field with UUID (4) subtype")
            }
        }
    }
}
