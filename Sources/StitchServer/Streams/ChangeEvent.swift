internal import BSONStore

/// Makes the documents that a change stream gives of the feed's changes.
///
/// Source: MongoDB manual, "Change Events".
struct ChangeEvent {
    let change: StoreChange
    /// Where the stream is behind this event.
    let place: StreamPlace
    let stamp: WriteStamp

    /// The event's document.
    ///
    /// - Parameters:
    ///   - keepsImages: whether the collection keeps documents before and after changes.
    ///   - lookup: gives the document of an id as it is now.
    /// - Throws: 47 (NoMatchingDocument) when a document is required that was not kept.
    func document(
        _ stage: ChangeStreamStage, keepsImages: Bool, lookup: (BSONValue) throws -> BSONDocument?
    ) throws -> BSONDocument {
        let update = change.kind == .update ? description : nil
        var event = head(operationType(update))
        guard change.kind.isOfDocument else { return tail(event) }
        if let full = try fullDocument(stage, update, keepsImages, lookup) {
            event.append("fullDocument", full)
        }
        event.append("ns", namespace)
        event.append("documentKey", ["_id": change.documentID])
        if let update {
            var shown = Self.value(of: update)
            if stage.showsExpandedEvents, let after = change.after {
                shown.append(
                    "disambiguatedPaths", .document(AmbiguousPaths.document(update, after)))
            }
            event.append("updateDescription", .document(shown))
        }
        if let before = try fullDocumentBeforeChange(stage, keepsImages) {
            event.append("fullDocumentBeforeChange", before)
        }
        return event
    }

    /// The notice that the stream is over.
    var invalidation: BSONDocument { head("invalidate") }

    private var description: UpdateDescription? {
        guard let before = change.before, let after = change.after else { return nil }
        return UpdateDescription.difference(from: before, to: after, splittingArrays: true)
    }

    /// A difference that no path can name is told as a replacement.
    private func operationType(_ update: UpdateDescription?) -> String {
        switch change.kind {
        case .insert: "insert"
        case .update: update == nil ? "replace" : "update"
        case .replace: "replace"
        case .delete: "delete"
        case .drop: "drop"
        case .rename, .renamedHere: "rename"
        case .dropDatabase: "dropDatabase"
        }
    }

    private func head(_ operationType: String) -> BSONDocument {
        var event: BSONDocument = [
            "_id": .document(place.token), "operationType": .string(operationType),
            "clusterTime": .timestamp(stamp.time), "wallTime": .datetime(stamp.wallTime),
        ]
        if let session = stamp.session, let number = stamp.transaction {
            event.append("txnNumber", .int64(number))
            event.append("lsid", .document(session))
        }
        return event
    }

    private func tail(_ event: BSONDocument) -> BSONDocument {
        var event = event
        switch change.kind {
        case .renamedHere:
            event.append("ns", change.after?["from"] ?? .null)
            event.append("to", namespace)
        case .rename:
            event.append("ns", namespace)
            event.append("to", change.after?["to"] ?? .null)
        case .dropDatabase:
            event.append("ns", ["db": .string(change.namespace.database)])
        case .insert, .update, .replace, .delete, .drop:
            event.append("ns", namespace)
        }
        return event
    }

    private var namespace: BSONValue {
        [
            "db": .string(change.namespace.database),
            "coll": .string(change.namespace.collection),
        ]
    }

    private func fullDocument(
        _ stage: ChangeStreamStage, _ update: UpdateDescription?, _ keepsImages: Bool,
        _ lookup: (BSONValue) throws -> BSONDocument?
    ) throws -> BSONValue? {
        guard change.kind != .delete else { return nil }
        guard update != nil else { return change.after.map(BSONValue.document) ?? .null }
        switch stage.fullDocument {
        case .off: return nil
        case .updateLookup:
            return try lookup(change.documentID).map(BSONValue.document) ?? .null
        case .whenAvailable, .required:
            if keepsImages, let after = change.after { return .document(after) }
            guard stage.fullDocument == .required else { return .null }
            throw missing("a post-image for all update events, but the post-image")
        }
    }

    private func fullDocumentBeforeChange(
        _ stage: ChangeStreamStage, _ keepsImages: Bool
    ) throws -> BSONValue? {
        guard stage.fullDocumentBeforeChange != .off, change.kind != .insert else { return nil }
        if keepsImages, let before = change.before { return .document(before) }
        guard stage.fullDocumentBeforeChange == .required else { return .null }
        throw missing(
            "a pre-image for all update, delete and replace events, but the pre-image")
    }

    private func missing(_ what: String) -> CommandFault {
        CommandFault(
            47,
            "Change stream was configured to require \(what) was not found for event: "
                + head(operationType(description)).extendedJSON(.relaxed))
    }

    private static func value(of update: UpdateDescription) -> BSONDocument {
        let truncated = update.truncatedArrays.map { array -> BSONValue in
            ["field": .string(array.field), "newSize": .int32(Int32(clamping: array.newSize))]
        }
        return [
            "updatedFields": .document(update.updatedFields),
            "removedFields": .array(BSONArray(update.removedFields.map(BSONValue.string))),
            "truncatedArrays": .array(BSONArray(truncated)),
        ]
    }
}
