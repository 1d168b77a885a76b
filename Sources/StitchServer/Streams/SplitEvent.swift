internal import BSONStore

/// Cuts an event that is too large for one document into several, each with some of its fields.
///
/// Source: MongoDB manual, "$changeStreamSplitLargeEvent".
enum SplitEvent {
    /// The stage that asks for it.
    static let stage = "$changeStreamSplitLargeEvent"
    /// An event has at most so many bytes, in one piece.
    static let bytesMax = 16 * 1024 * 1024
    /// An event that nobody wants cut has a little more room.
    static let wholeBytesMax = bytesMax + 16 * 1024
    /// What each piece has beside its fields: where it is, and which piece it is.
    private static let frameBytes = 1_024

    /// The fields of each piece: the small ones first.
    ///
    /// - Throws: 7182500 when one field alone is too large, 7182502 without fields.
    static func pieces(_ event: BSONDocument) throws(CommandFailure) -> [BSONDocument] {
        let fields = event.filter { $0.key != "_id" }
            .map { field in (field: field, bytes: BSONDocument([field]).byteCount) }
            .sorted { $0.bytes < $1.bytes }
        guard !fields.isEmpty else {
            throw CommandFailure(
                7_182_502, "Cannot split an empty event or an event containing solely '_id' field")
        }
        var pieces: [BSONDocument] = []
        var piece = BSONDocument()
        for (field, bytes) in fields {
            guard bytes + frameBytes <= bytesMax else {
                throw CommandFailure(
                    7_182_500,
                    "Splitting change event failed: fragment size \(bytes + frameBytes) is greater "
                        + "than maximum allowed fragment size \(bytesMax)")
            }
            if piece.byteCount + bytes + frameBytes > bytesMax {
                pieces.append(piece)
                piece = BSONDocument()
            }
            piece.append(field.key, field.value)
        }
        return pieces + [piece]
    }

    /// Checks the stage's argument.
    ///
    /// - Throws: 7182800.
    static func check(_ argument: BSONValue) throws(CommandFailure) {
        guard argument.documentValue?.isEmpty == true else {
            throw CommandFailure(
                7_182_800, "$changeStreamSplitLargeEvent spec should be an empty object")
        }
    }

    /// Refuses the stage where nothing is watched.
    ///
    /// - Throws: 7182800, 20 (IllegalOperation).
    static func refuse(_ argument: BSONValue) throws(CommandFailure) {
        try check(argument)
        throw CommandFailure(
            .illegalOperation, "\(stage) can only be used in a $changeStream pipeline")
    }

    /// The error for going on behind a piece without the stage.
    static var isNotAsked: CommandFailure {
        CommandFailure(
            280,
            "To resume from a split event, the $changeStream pipeline must include a "
                + "$changeStreamSplitLargeEvent stage")
    }

    /// The error for going on behind a piece of an event that is not cut now.
    static var isWhole: CommandFailure {
        CommandFailure(
            280,
            "Attempted to resume from a split event fragment, but the event in the resumed stream "
                + "was not large enough to be split")
    }

    /// The error for going on behind a piece that there is not now.
    static var isAnother: CommandFailure {
        CommandFailure(
            280,
            "Attempted to resume from a split event, but the resumed stream produced a different "
                + "split. Ensure that the pipeline used to resume is the same as the original")
    }

    /// The error for an event that is too large and is not to be cut.
    static func tooLarge(_ event: BSONDocument) -> CommandFailure {
        let count = event.byteCount
        return CommandFailure(
            10334,
            "BSONObj size: \(count) (0x\(String(count, radix: 16, uppercase: true))) is invalid. "
                + "Size must be between 0 and \(wholeBytesMax)(16MB)")
    }
}
