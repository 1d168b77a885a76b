internal import BSONStore

/// An event of a change stream with only what a device needs: the kind of change, the document's `_id`,
/// and the document after it or, of a large one that was updated, its version.
///
/// It needs no comparison of the versions of a document field by field, and the device need not ask for a
/// small document.
///
/// Source: Docs/SERVER.md, "Change streams".
struct BriefEvent {
    /// The option of `$changeStream` that asks for brief events.
    static let option = "stitchsyncBriefEvents"
    /// The part of `hello`'s answer that says that the server knows the option.
    static let feature = "briefEvents"

    /// The largest updated document that its event has, in bytes: for a device that wants none of the
    /// collection's documents it is not much more than the event.
    private static let updatedBytesMax = 2_048

    /// The event's document.
    let document: BSONDocument

    /// Makes the event of a document's change; `nil` for a change of a whole collection.
    init?(_ change: StoreChange, _ place: ChangeStreamPosition) {
        guard change.kind.isOfDocument else { return nil }
        var event: BSONDocument = [
            "_id": .document(place.token), "operationType": .string(Self.name(of: change.kind)),
            "documentKey": ["_id": change.documentID],
        ]
        if let after = change.after, change.kind != .delete {
            let wrote = Self.writesVersion(change)
            if change.kind != .update || after.byteCount <= Self.updatedBytesMax {
                event.append("fullDocument", .document(after))
                if change.kind == .update { event.append("wroteVersion", .bool(wrote)) }
            } else if let version = after[EchoFilter.versionField] {
                // A version that the update left as it was says nothing about its content.
                if wrote {
                    event.append(
                        "versionFields",
                        [["k": .string(EchoFilter.versionField), "v": version]])
                }
            } else if change.before?[EchoFilter.versionField] != nil {
                event.append(
                    "updateDescription", ["removedFields": [.string(EchoFilter.versionField)]])
            }
        }
        document = event
    }

    /// Returns the brief form of an upstream's event; that of a whole collection stays as it is.
    static func shortening(_ event: BSONDocument) -> BSONDocument {
        guard let key = event["documentKey"] else { return event }
        var brief: BSONDocument = [
            "_id": event["_id"] ?? .null, "operationType": event["operationType"] ?? .null,
            "documentKey": key,
        ]
        if let passage = event["leftView"] { brief.append("leftView", passage) }
        guard event["operationType"] == "update" else {
            if let document = event["fullDocument"] { brief.append("fullDocument", document) }
            return brief
        }
        let description = event["updateDescription"]?.documentValue
        let updated = description?["updatedFields"]?.documentValue ?? [:]
        let fields = updated.filter { $0.key.hasBytePrefix(EchoFilter.versionField) }
            .map { BSONValue.document(["k": .string($0.key), "v": $0.value]) }
        if !fields.isEmpty { brief.append("versionFields", .array(BSONArray(fields))) }
        let removed = description?["removedFields"]?.arrayValue?.values ?? []
        if removed.contains(.string(EchoFilter.versionField)) {
            brief.append(
                "updateDescription", ["removedFields": [.string(EchoFilter.versionField)]])
        }
        return brief
    }

    private static func name(of kind: StoreChange.Kind) -> String {
        switch kind {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        case .replace, .drop, .rename, .renameTarget, .dropDatabase: "replace"
        }
    }

    /// Whether an update names another operation as the writer of the version.
    private static func writesVersion(_ change: StoreChange) -> Bool {
        let operation = EchoFilter.Operation(of: change.after)
        return operation != nil && operation != EchoFilter.Operation(of: change.before)
    }
}
