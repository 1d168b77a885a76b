internal import BSONStore

/// Makes the documents that an expanded change stream gives of collections made, indexed, modified.
///
/// Source: MongoDB manual, "Change Events", those with `showExpandedEvents`.
struct SchemaChangeEvent {
    let change: DefinitionChange
    /// Where the stream is behind this event.
    let place: ChangeStreamPosition
    let stamp: WriteStamp

    /// The event's document.
    var document: BSONDocument {
        var event: BSONDocument = [
            "_id": .document(place.token), "operationType": .string(operationType),
            "clusterTime": .timestamp(stamp.time),
        ]
        if let uuid = change.uuid { event.append("collectionUUID", uuid) }
        event.append("wallTime", .datetime(stamp.wallTime))
        event.append("ns", change.namespace.eventValue)
        if change.kind != .dropView {
            event.append("operationDescription", .document(description))
        }
        if let before = change.before { event.append("stateBeforeChange", .document(before)) }
        return event
    }

    private var operationType: String {
        switch change.kind {
        case .create: "create"
        case .createIndex: "createIndexes"
        case .dropIndex: "dropIndexes"
        case .modify: "modify"
        case .dropView: "drop"
        }
    }

    /// The description, with indexes as they are listed.
    private var description: BSONDocument {
        guard case .array(let indexes)? = change.description["indexes"] else {
            return change.description
        }
        let shown = indexes.map { index in
            index.documentValue.map { BSONValue.document(IndexEntry.document($0)) } ?? index
        }
        return ["indexes": .array(BSONArray(shown))]
    }
}
