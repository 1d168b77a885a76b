internal import BSONStore

/// An event of an expanded change stream about a created, indexed or modified collection.
///
/// Source: MongoDB manual, "Change Events", those with `showExpandedEvents`.
struct SchemaChangeEvent {
    let change: DefinitionChange
    /// The stream's position after this event.
    let place: ChangeStreamPosition
    let stamp: WriteStamp

    /// The document of the event.
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
        if change.kind == .create {
            event.append("nsType", change.description["viewOn"] == nil ? "collection" : "view")
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

    /// The operation description, with indexes in the form of `listIndexes`.
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
