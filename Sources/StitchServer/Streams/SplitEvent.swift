internal import BSONStore

/// The split of an event that is too large for one document into fragments.
///
/// Source: MongoDB manual, "$changeStreamSplitLargeEvent".
enum SplitEvent {
    /// The stage that requests the split.
    static let stage = "$changeStreamSplitLargeEvent"
    /// The maximum size of a fragment, in bytes.
    static let bytesMax = 16 * 1024 * 1024
    /// The maximum size of an event without the stage, in bytes.
    static let wholeBytesMax = bytesMax + 16 * 1024
    /// The bytes reserved in each fragment for its token and `splitEvent`.
    private static let frameBytes = 1_024

    /// Returns the fragments, with the small fields first.
    ///
    /// - Throws: 7182500 when one field alone is too large, 7182502 for an event without fields.
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

    /// Throws the error for the stage outside of a change stream.
    ///
    /// - Throws: 7182800, 20 (IllegalOperation).
    static func refuse(_ argument: BSONValue) throws(CommandFailure) {
        try check(argument)
        throw CommandFailure(
            .illegalOperation, "\(stage) can only be used in a $changeStream pipeline")
    }

    /// The error for resuming within a split event without the stage.
    static var isNotAsked: CommandFailure {
        CommandFailure(
            280,
            "To resume from a split event, the $changeStream pipeline must include a "
                + "$changeStreamSplitLargeEvent stage")
    }

    /// The error for resuming within an event that is not split now.
    static var isWhole: CommandFailure {
        CommandFailure(
            280,
            "Attempted to resume from a split event fragment, but the event in the resumed stream "
                + "was not large enough to be split")
    }

    /// The error for resuming after a fragment that does not exist now.
    static var isAnother: CommandFailure {
        CommandFailure(
            280,
            "Attempted to resume from a split event, but the resumed stream produced a different "
                + "split. Ensure that the pipeline used to resume is the same as the original")
    }

    /// The error for an event that is too large and must not be split.
    static func tooLarge(_ event: BSONDocument) -> CommandFailure {
        let count = event.byteCount
        return CommandFailure(
            10334,
            "BSONObj size: \(count) (0x\(String(count, radix: 16, uppercase: true))) is invalid. "
                + "Size must be between 0 and \(wholeBytesMax)(16MB)")
    }
}
