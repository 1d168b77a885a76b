internal import BSONStore

/// The stage `$changeStream` with its options.
///
/// Source: MongoDB manual, "$changeStream (aggregation)".
struct ChangeStreamStage: Sendable {
    /// The document to include in an event.
    enum Image: String, Sendable {
        /// None.
        case off
        /// The current document at the time of the event.
        case updateLookup
        /// The document at the time of the change; null where it was not kept.
        case whenAvailable
        /// The document at the time of the change; the stream fails without it.
        case required
    }

    /// The start of a stream.
    enum Start: Sendable {
        case now
        case behind(ChangeStreamPosition)
        /// A token of the upstream, which judges it; it may be one of an `invalidate` event.
        case token(BSONDocument, mayBeInvalidate: Bool)
        case atTime(BSONTimestamp)
    }

    static let name = "$changeStream"

    static var mustBeFirst: CommandFailure {
        CommandFailure(40602, "$changeStream is only valid as the first stage in a pipeline")
    }

    /// The option for the document after an update.
    private(set) var fullDocument = Image.off
    /// The option for the document before a change.
    private(set) var fullDocumentBeforeChange = Image.off
    /// The start of the stream.
    private(set) var start = Start.now
    /// Whether the stream covers all databases.
    private(set) var isForCluster = false
    /// Whether events are expanded: definition changes, and the meaning of ambiguous paths.
    private(set) var showsExpandedEvents = false
    /// The reading device's own changes, which are left out; `nil` to leave out none.
    private(set) var echoes: EchoFilter?

    /// Whether events have only what a device needs.
    private(set) var showsBriefEvents = false

    private static let fields: [String: FieldKind] = [
        "fullDocument": .string, "fullDocumentBeforeChange": .string, "resumeAfter": .document,
        "startAfter": .document, "startAtOperationTime": .any, "allChangesForCluster": .bool,
        "showExpandedEvents": .bool, "showMigrationEvents": .bool, "showSystemEvents": .bool,
        "showRawUpdateDescription": .bool, "allowToRunOnConfigDB": .bool,
        "allowToRunOnSystemNS": .bool, "matchCollectionUUIDForUpdateLookup": .bool,
        EchoFilter.option: .any, BriefEvent.option: .bool,
    ]

    /// Parses the options.
    ///
    /// - Throws: 6188500 for a value that is not a document, 40415 for unknown options, 14 for
    ///   wrong types, 2 for unknown modes, 40674 and 50865 for more than one start.
    ///
    /// - Parameter readsTokens: whether tokens are those of this server.
    init(_ value: BSONValue, readsTokens: Bool = true) throws(CommandFailure) {
        guard let options = value.documentValue else {
            throw CommandFailure(
                6_188_500,
                "$changeStream must take a nested object but found: $changeStream: "
                    + ShellText.text(of: value))
        }
        try CommandSchema(fields: Self.fields, required: []).check(options, named: Self.name)
        showsExpandedEvents = options["showExpandedEvents"]?.isTrue ?? false
        fullDocument = try Self.image(
            options, "fullDocument", ["default": .off, "updateLookup": .updateLookup])
        fullDocumentBeforeChange = try Self.image(
            options, "fullDocumentBeforeChange", ["off": .off])
        isForCluster = options["allChangesForCluster"]?.boolValue ?? false
        if let operation = options[EchoFilter.option] { echoes = try EchoFilter(operation) }
        showsBriefEvents = options[BriefEvent.option]?.isTrue ?? false
        start = try Self.start(options, readsTokens)
    }

    private static func image(
        _ options: BSONDocument, _ field: String, _ others: [String: Image]
    ) throws(CommandFailure) -> Image {
        guard let text = options[field]?.stringValue else { return .off }
        if let image = others[text] { return image }
        guard text == "whenAvailable" || text == "required", let image = Image(rawValue: text)
        else {
            throw CommandFailure(
                .badValue,
                "Enumeration value '\(text)' for field '$changeStream.\(field)' is not a valid "
                    + "value.")
        }
        return image
    }

    private static func start(
        _ options: BSONDocument, _ readsTokens: Bool
    ) throws(CommandFailure) -> Start {
        let resume = options["resumeAfter"]?.documentValue
        let startAfter = options["startAfter"]?.documentValue
        let time = options["startAtOperationTime"]
        guard resume == nil || startAfter == nil else {
            throw CommandFailure(
                50865,
                "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
        }
        guard time == nil || (resume == nil && startAfter == nil) else {
            throw CommandFailure(
                40674, "Only one type of resume option is allowed, but multiple were found")
        }
        if let token = resume ?? startAfter {
            guard readsTokens else {
                return .token(token, mayBeInvalidate: startAfter != nil)
            }
            let place = try ChangeStreamPosition(token: token)
            guard startAfter != nil || place.kind != .invalidate else {
                throw CommandFailure(
                    260,
                    "Attempting to resume a change stream using 'resumeAfter' is not allowed from "
                        + "an invalidate notification")
            }
            return .behind(place)
        }
        guard let time else { return .now }
        guard case .timestamp(let time) = time else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '$changeStream.startAtOperationTime' is the wrong type "
                    + "'\(time.type.alias)', expected type 'timestamp'")
        }
        return .atTime(time)
    }
}
