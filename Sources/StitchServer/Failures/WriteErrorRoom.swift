internal import BSONStore

/// The room for the errors of single writes in one reply: a text can be as long as a document, and a
/// command has many writes.
///
/// As in MongoDB, later errors lose their texts when there are many.
struct WriteErrorRoom: Sendable {
    private var bytesLeft = 1_024 * 1_024
    private static let shortBytesMax = 256
    /// The fields of an error that a client needs.
    private static let needed = ["ok", "index", "idx", "code", "n"]

    /// Returns an entry as it fits: whole, with the beginning of its text, or without a text.
    mutating func fitted(_ entry: BSONDocument) -> BSONDocument {
        guard entry.byteCount > bytesLeft else {
            bytesLeft -= entry.byteCount
            return entry
        }
        var short = BSONDocument()
        for field in Self.needed {
            if let value = entry[field] { short.append(field, value) }
        }
        let text = (entry["errmsg"]?.stringValue ?? "").utf8.prefix(Self.shortBytesMax)
        let isRoom = text.count + short.byteCount <= bytesLeft
        short.append("errmsg", .string(isRoom ? String(decoding: text, as: UTF8.self) : ""))
        bytesLeft = max(0, bytesLeft - short.byteCount)
        return short
    }
}
