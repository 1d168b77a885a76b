internal import BSONStore

/// The position of a change stream, from which a client resumes it by a token.
protocol StreamPosition: Sendable {
    /// The token of the position.
    var token: BSONDocument { get }
}

/// An event of a change stream, made from a change in the feed.
///
/// Source: MongoDB manual, "Change Events".
struct ChangeStreamEvent<Place: StreamPosition> {
    let change: StoreChange
    /// The stream's position after this event.
    let place: Place
    let stamp: WriteStamp
    /// The collection's UUID, if the event shows it.
    var collectionUUID: BSONValue?

    /// Returns the document of the event.
    ///
    /// - Parameters:
    ///   - keepsImages: whether the collection keeps documents before and after changes.
    ///   - lookup: returns the current document of an id.
    /// - Throws: 47 (NoMatchingDocument) when a required document was not kept.
    func document(
        _ stage: ChangeStreamStage, keepsImages: Bool, lookup: (BSONValue) throws -> BSONDocument?
    ) throws -> BSONDocument {
        let update = difference
        var event = head(operationType(update))
        guard change.kind.isOfDocument else {
            event = tail(event)
            if stage.showsExpandedEvents, let description = renameDescription {
                event.append("operationDescription", .document(description))
            }
            return event
        }
        if let full = try fullDocument(stage, update, keepsImages, lookup) {
            event.append("fullDocument", full)
        }
        event.append("ns", namespace)
        event.append("documentKey", ["_id": change.documentID])
        if let update {
            let description = UpdateDescriptionWriter(update)
                .document(isExpanded: stage.showsExpandedEvents)
            event.append("updateDescription", .document(description))
        }
        if let before = try fullDocumentBeforeChange(stage, keepsImages) {
            event.append("fullDocumentBeforeChange", before)
        }
        return event
    }

    /// The `invalidate` event.
    var invalidation: BSONDocument { head("invalidate") }

    private var difference: OplogDelta? {
        change.kind == .update ? OplogDelta(change) : nil
    }

    /// Returns `replace` for an update whose difference is larger than the document.
    private func operationType(_ update: OplogDelta?) -> String {
        switch change.kind {
        case .insert: "insert"
        case .update: update == nil ? "replace" : "update"
        case .replace: "replace"
        case .delete: "delete"
        case .drop: "drop"
        case .rename: change.isRenameAcrossDatabases ? "drop" : "rename"
        case .renameTarget: "rename"
        case .dropDatabase: "dropDatabase"
        }
    }

    private func head(_ operationType: String) -> BSONDocument {
        var event: BSONDocument = [:]
        if operationType == "rename", let target { event.append("to", target) }
        if let session = stamp.session, let number = stamp.transaction {
            event.append("txnNumber", .int64(number))
            event.append("lsid", .document(session))
        }
        event.append("_id", .document(place.token))
        event.append("operationType", .string(operationType))
        event.append("clusterTime", .timestamp(stamp.time))
        if let collectionUUID { event.append("collectionUUID", collectionUUID) }
        event.append("wallTime", .datetime(stamp.wallTime))
        return event
    }

    private func tail(_ event: BSONDocument) -> BSONDocument {
        var event = event
        switch change.kind {
        case .renameTarget:
            event.append("ns", origin)
        case .dropDatabase:
            event.append("ns", ["db": .string(change.namespace.database)])
        case .rename, .insert, .update, .replace, .delete, .drop:
            event.append("ns", namespace)
        }
        return event
    }

    /// The new name after a rename.
    private var target: BSONValue? {
        switch change.kind {
        case .renameTarget: namespace
        case .rename: change.isRenameAcrossDatabases ? nil : change.after?["to"]
        case .insert, .update, .replace, .delete, .drop, .dropDatabase: nil
        }
    }

    /// The old name of a renamed collection; the name of the copy if it was in another database.
    private var origin: BSONValue {
        guard change.isRenameAcrossDatabases else { return change.after?["from"] ?? .null }
        let digits = String(change.position, radix: 36)
        let mark = String(repeating: "0", count: max(0, 5 - digits.count)) + digits.suffix(5)
        return [
            "db": .string(change.namespace.database),
            "coll": .string("tmp\(mark).renameCollection"),
        ]
    }

    /// The description of a rename: the new name, and the dropped target.
    private var renameDescription: BSONDocument? {
        guard let target else { return nil }
        var description: BSONDocument = ["to": target]
        if let dropped = change[.dropTarget] { description.append("dropTarget", dropped) }
        return description
    }

    private var namespace: BSONValue { change.namespace.eventValue }

    private func fullDocument(
        _ stage: ChangeStreamStage, _ update: OplogDelta?, _ keepsImages: Bool,
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

    private func missing(_ what: String) -> CommandFailure {
        var event: BSONDocument = [
            "operationType": .string(operationType(difference)), "ns": namespace,
            "clusterTime": .timestamp(stamp.time),
        ]
        if stamp.session != nil, let number = stamp.transaction {
            event.append("txnNumber", .int64(number))
        }
        return CommandFailure(
            47,
            "Change stream was configured to require \(what) was not found for event: "
                + DocumentText.text(of: event))
    }
}

extension Namespace {
    /// The namespace in the form of events.
    var eventValue: BSONValue {
        ["db": .string(database), "coll": .string(collection)]
    }
}
