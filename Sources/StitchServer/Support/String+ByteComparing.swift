// Strings compare by their bytes in this module, as in BSONStore. Swift's own operators compare by
// canonical equivalence and would treat two names as one. The operators here hide them, also in
// synthesized conformances. Dictionary keys and set members do not use them: there a name is a
// `Name`.
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
    /// Whether both are `nil`, or have the same bytes.
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
    /// Whether an element has the same bytes as a text.
    func contains(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

/// Whether a pattern has the same bytes as a text.
func ~= (pattern: String, text: String) -> Bool { pattern.hasSameBytes(as: text) }
