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
    /// - Throws: 7182500 when one field alone is too large.
    static func pieces(_ event: BSONDocument) throws(CommandFault) -> [BSONDocument] {
        let fields = event.filter { $0.key != "_id" }
            .map { field in (field: field, bytes: BSONDocument([field]).byteCount) }
            .sorted { $0.bytes < $1.bytes }
        var pieces: [BSONDocument] = []
        var piece = BSONDocument()
        for (field, bytes) in fields {
            guard bytes + frameBytes <= bytesMax else {
                throw CommandFault(
                    7_182_500,
                    "Splitting change event failed: the field '\(field.key)' alone has \(bytes) "
                        + "bytes")
            }
            if piece.byteCount + bytes + frameBytes > bytesMax {
                pieces.append(piece)
                piece = BSONDocument()
            }
            piece.append(field.key, field.value)
        }
        return pieces + [piece]
    }

    /// The error for an event that is too large and is not to be cut.
    static func tooLarge(_ event: BSONDocument) -> CommandFault {
        let count = event.byteCount
        return CommandFault(
            10334,
            "BSONObj size: \(count) (0x\(String(count, radix: 16, uppercase: true))) is invalid. "
                + "Size must be between 0 and \(wholeBytesMax)(16MB)")
    }
}
