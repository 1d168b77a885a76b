internal import BSONStore
internal import StitchSync

/// A parser of change stream events; pure.
///
/// Source: MongoDB's manual, "Change Events".
enum MongoChange {
    /// Returns the change of an event; `nil` when the event ends the collection's history.
    ///
    /// - Throws: ``MongoFailure`` for an invalid event.
    static func read(_ event: BSONDocument) throws(MongoFailure) -> RemoteChange? {
        let type = event["operationType"]?.stringValue ?? ""
        switch type {
        case "insert", "replace":
            guard let document = event["fullDocument"]?.documentValue else {
                return RemoteChange(
                    documentID: try id(of: event), isDelete: false, version: nil, operation: nil
                )
            }
            return RemoteChange(
                documentID: try id(of: event), isDelete: false, after: document,
                operation: VersionField(of: document).operation
            ).told()
        case "update": return try update(event)
        case "delete":
            return RemoteChange(
                documentID: try id(of: event), isDelete: true, version: nil, operation: nil,
                leftView: event["leftView"]?.boolValue ?? false)
        default:
            return nil
        }
    }

    /// The projected field with the updated version fields, as pairs of key and value.
    static let versionFields = "versionFields"

    /// The field of a brief update event that says that the update wrote the version.
    private static let wroteVersion = "wroteVersion"

    /// Returns the change of an update event, which has a new version as a whole or as its
    /// changed parts.
    private static func update(_ event: BSONDocument) throws(MongoFailure) -> RemoteChange {
        let id = try id(of: event)
        if let document = event["fullDocument"]?.documentValue {
            // Of a brief event.
            let wroteVersion = event[wroteVersion]?.boolValue ?? false
            return RemoteChange(
                documentID: id, isDelete: false, after: document,
                operation: wroteVersion ? VersionField(of: document).operation : nil
            ).told()
        }
        let field = DocumentVersion.fieldName
        var updated: [Name: BSONValue] = [:]
        for pair in event[versionFields]?.arrayValue?.compactMap(\.documentValue) ?? [] {
            guard let key = pair["k"]?.stringValue, let value = pair["v"] else { continue }
            updated[key] = value
        }
        if let value = updated[field] {
            let version = VersionField(of: BSONDocument([(field, value)]))
            return RemoteChange(
                documentID: id, isDelete: false, version: version,
                operation: version.operation, wroteVersion: version.operation != nil)
        }
        let operation = updated["\(field).op"].flatMap(OperationID.init)
        let removed =
            event["updateDescription"]?.documentValue?["removedFields"]?.arrayValue?
            .compactMap(\.stringValue) ?? []
        return RemoteChange(
            documentID: id, isDelete: false,
            version: removed.containsBytes(of: field) ? .absent : nil,
            operation: operation, wroteVersion: operation != nil)
    }

    private static func id(of event: BSONDocument) throws(MongoFailure) -> BSONValue {
        guard let id = event["documentKey"]?.documentValue?["_id"] else {
            throw MongoFailure(
                kind: .protocolError, message: "a change event without its document's _id")
        }
        return id
    }
}

extension VersionField {
    /// Our attempt that the version names.
    fileprivate var operation: OperationID? { version?.operation.flatMap(OperationID.init) }
}
