internal import BSONStore

/// A resume token of the upstream.
///
/// Tokens are ordered like their positions: MongoDB and `serve` write them so.
struct FeedToken: StreamPosition, Hashable, Comparable {
    /// The token as the upstream gave it.
    let document: BSONDocument
    /// The hexadecimal text by which tokens are ordered.
    let text: String
    /// The fingerprint of the rules for the user of a stream; `nil` without rules.
    var rules: UInt64?

    /// The field of a client's token with the fingerprint, which the upstream does not look at.
    private static let rulesField = "stitchsyncRules"

    /// Reads a token of the upstream, or one that a client brings back.
    ///
    /// - Throws: 40647 for a document that is not a token.
    init(_ token: BSONDocument) throws(CommandFailure) {
        guard let text = token["_data"]?.stringValue, !text.isEmpty else {
            throw CommandFailure(
                40647,
                "Bad resume token: _data of missing or of wrong type. Expected string, got "
                    + DocumentText.text(of: token))
        }
        var own = token
        rules = own.removeValue(forKey: Self.rulesField)?.stringValue
            .flatMap { UInt64($0, radix: 16) }
        document = own.compacted()
        self.text = text
    }

    /// The token for the client: the upstream's, and the fingerprint of the rules.
    var token: BSONDocument {
        guard let rules else { return document }
        var token = document
        token.append(Self.rulesField, .string(String(rules, radix: 16)))
        return token
    }

    static func == (left: FeedToken, right: FeedToken) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    static func < (left: FeedToken, right: FeedToken) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// An event of the upstream's change stream, which all streams of a gateway share.
struct FeedEvent: Sendable {
    /// The event with the documents before and after the change.
    let document: BSONDocument
    let token: FeedToken
    let operationType: String
    /// The collection; one without a name for a database.
    let namespace: Namespace
    /// The change, for the rules; `nil` for an event that concerns no document or collection.
    let change: StoreChange?
    let stamp: WriteStamp
    /// Whether the document before the change is unknown, although there was one.
    let lacksBefore: Bool

    /// Whether the document after an update is unknown: it was deleted before it could be read.
    var lacksAfter: Bool { change.map { $0.kind == .update && $0.after == nil } ?? false }

    /// Reads an event.
    ///
    /// - Throws: 40647 for an event without a token.
    init(_ event: BSONDocument) throws(CommandFailure) {
        document = event
        token = try FeedToken(event["_id"]?.documentValue ?? [:])
        operationType = event["operationType"]?.stringValue ?? ""
        let place = event["ns"]?.documentValue
        namespace = Namespace(
            place?["db"]?.stringValue ?? "", place?["coll"]?.stringValue ?? "")
        var time = BSONTimestamp(seconds: 0, increment: 0)
        if case .timestamp(let known)? = event["clusterTime"] { time = known }
        var wallTime = BSONDatetime(milliseconds: Int64(time.seconds) * 1_000)
        if case .datetime(let known)? = event["wallTime"] { wallTime = known }
        stamp = WriteStamp(
            time: time, wallTime: wallTime, session: event["lsid"]?.documentValue,
            transaction: event["txnNumber"]?.int64Value)
        let before = event["fullDocumentBeforeChange"]?.documentValue
        let kind = Self.kind(operationType)
        lacksBefore =
            before == nil && [.update, .replace, .delete].contains(kind)
        change = kind.map { kind in
            StoreChange(
                standingAt: 0,
                Namespace(
                    place?["db"]?.stringValue ?? "", place?["coll"]?.stringValue ?? ""),
                kind, before: before ?? (kind == .delete ? Self.key(event) : nil),
                after: kind == .delete
                    ? nil
                    : event["fullDocument"]?.documentValue
                        ?? Self.target(event, kind))
        }
    }

    private static func key(_ event: BSONDocument) -> BSONDocument? {
        event["documentKey"]?.documentValue.flatMap { key in key["_id"].map { ["_id": $0] } }
    }

    private static func target(_ event: BSONDocument, _ kind: StoreChange.Kind) -> BSONDocument? {
        guard kind == .rename, let to = event["to"] else { return nil }
        return ["to": to]
    }

    private static func kind(_ operationType: String) -> StoreChange.Kind? {
        switch operationType {
        case "insert": .insert
        case "update": .update
        case "replace": .replace
        case "delete": .delete
        case "drop": .drop
        case "rename": .rename
        case "dropDatabase": .dropDatabase
        default: nil
        }
    }

    /// The `_id` of the document.
    var id: BSONValue { document["documentKey"]?.documentValue?["_id"] ?? .null }

    /// The operation that the event shows; `nil` if a device did not make the change.
    ///
    /// The document of an update may be a later one, so only what the update wrote counts.
    var operation: EchoFilter.Operation? {
        switch operationType {
        case "insert", "replace": return EchoFilter.Operation(of: change?.after)
        case "update":
            let fields = document["updateDescription"]?.documentValue?["updatedFields"]?
                .documentValue
            return EchoFilter.Operation(of: fields)
                ?? EchoFilter.Operation(fields?[EchoFilter.versionField + ".op"])
        default: return nil
        }
    }

    /// A document of a collection.
    struct DocumentKey: Hashable, Sendable {
        let namespace: Namespace
        let id: [UInt8]
    }

    /// The document that changed; `nil` for an event about a collection.
    var key: DocumentKey? {
        guard change?.kind.isOfDocument == true else { return nil }
        return DocumentKey(namespace: namespace, id: BSONKey.encode(id))
    }

    /// Whether the event shows the definition of a collection, as only streams with expanded events
    /// do.
    var isExpanded: Bool { change == nil && operationType != "invalidate" }
}
