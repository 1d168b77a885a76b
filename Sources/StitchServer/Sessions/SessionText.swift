internal import BSONStore

/// The text of a session in errors.
enum SessionText {
    static func text(_ session: BSONDocument) -> String {
        let hex = SessionTable.key(session).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        guard hex.count == 16 else { return "-" }
        let parts = [hex[0..<4], hex[4..<6], hex[6..<8], hex[8..<10], hex[10..<16]]
        return parts.map { $0.joined() }.joined(separator: "-") + " - "
    }
}
