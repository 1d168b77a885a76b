// Texts compare by their bytes in this module, as in BSONStore: Swift's own operators compare by
// canonical equivalence, which takes two names for one. Those here hide them, also in the
// conformances that the compiler writes. Keys of dictionaries and members of sets do not see them:
// there a name is a `Name`.
internal import BSONStore

extension String {
    /// Whether the bytes are the same.
    static func == (left: String, right: String) -> Bool { left.hasSameBytes(as: right) }

    /// Whether the bytes differ.
    static func != (left: String, right: String) -> Bool { !left.hasSameBytes(as: right) }

    /// Whether the text begins with the bytes of another.
    func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension Optional where Wrapped == String {
    /// Whether both are there with the same bytes, or neither is.
    static func == (left: String?, right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, nil): true
        case (nil, _), (_, nil): false
        }
    }

    /// Whether the bytes differ, or one is missing.
    static func != (left: String?, right: String?) -> Bool { !(left == right) }
}

extension Sequence where Element == String {
    /// Whether a text with the same bytes is among them.
    func contains(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

/// Whether a pattern's text has the same bytes.
func ~= (pattern: String, text: String) -> Bool { pattern.hasSameBytes(as: text) }
