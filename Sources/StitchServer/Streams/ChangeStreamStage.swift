internal import BSONStore

/// Is the stage `$changeStream` with its options.
///
/// Source: MongoDB manual, "$changeStream (aggregation)".
struct ChangeStreamStage: Sendable {
    /// Which document goes with a change.
    enum Image: String, Sendable {
        /// For an update none, or for a before-image none at all.
        case off
        /// The document as it is when the event is given out.
        case updateLookup
        /// As it was with the change, null where it was not kept.
        case whenAvailable
        /// As it was with the change; without it the stream fails.
        case required
    }

    /// Where a stream begins.
    enum Start: Sendable {
        case now
        case behind(ChangeStreamPosition)
        case atTime(BSONTimestamp)
    }

    static let name = "$changeStream"

    static var mustBeFirst: CommandFailure {
        CommandFailure(40602, "$changeStream is only valid as the first stage in a pipeline")
    }

    /// The document after an update.
    private(set) var fullDocument = Image.off
    /// The document before a change.
    private(set) var fullDocumentBeforeChange = Image.off
    /// Where to begin.
    private(set) var start = Start.now
    /// Whether the changes of all databases are asked for.
    private(set) var isForCluster = false
    /// Whether updates say what ambiguous paths mean.
    private(set) var showsExpandedEvents = false

    private static let fields: [String: FieldKind] = [
        "fullDocument": .string, "fullDocumentBeforeChange": .string, "resumeAfter": .document,
        "startAfter": .document, "startAtOperationTime": .any, "allChangesForCluster": .bool,
        "showExpandedEvents": .bool, "showMigrationEvents": .bool, "showSystemEvents": .bool,
        "showRawUpdateDescription": .bool, "allowToRunOnConfigDB": .bool,
        "allowToRunOnSystemNS": .bool, "matchCollectionUUIDForUpdateLookup": .bool,
    ]

    /// Reads the stage's options.
    ///
    /// - Throws: 6188500 for what is no document, 40415 for unknown options, 14 for wrong types, 2
    ///   for unknown modes, 40674 and 50865 for more than one start.
    init(_ value: BSONValue) throws(CommandFailure) {
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
        start = try Self.start(options)
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

    private static func start(_ options: BSONDocument) throws(CommandFailure) -> Start {
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
