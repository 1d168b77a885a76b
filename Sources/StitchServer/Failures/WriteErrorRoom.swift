internal import BSONStore

/// The room for the errors of single writes in one reply: a text can be as long as a document, and a
/// command has many writes.
///
/// As in MongoDB, later errors lose their texts when there are many. They keep what programs act on,
/// such as the rule that denied a write, which a device needs to revert it.
struct WriteErrorRoom: Sendable {
    /// The room for whole entries.
    private var bytesLeft = 1_024 * 1_024
    /// The room for what programs act on; the rest of a reply's 16 MiB is for the position, code and
    /// short text of each error.
    private var actedBytesLeft = 8 * 1_024 * 1_024
    private static let shortBytesMax = 256
    /// The fields that each error keeps.
    private static let needed = ["ok", "index", "idx", "code", "n"]
    /// The fields of an error that programs act on.
    private static let acted = ["keyPattern", "errInfo"]

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
        var acted = short
        for field in Self.acted {
            if let value = entry[field] { acted.append(field, value) }
        }
        let size = acted.byteCount - short.byteCount
        guard size <= actedBytesLeft else { return short }
        actedBytesLeft -= size
        return acted
    }
}
