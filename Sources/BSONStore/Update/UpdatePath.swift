/// Names what an operator changes: keys, array positions and positional placeholders.
struct UpdatePath: Sendable, Hashable, CustomStringConvertible {
    /// One step of the way.
    enum Part: Sendable, Hashable {
        /// A key, which in an array is a position when it is a number.
        case field(String, index: Int?)
        /// `$`: the element that the filter matched.
        case matched
        /// `$[]`: every element.
        case all
        /// `$[name]`: the elements that an array filter matches.
        case filtered(String)
    }

    let parts: [Part]
    let description: String

    /// Reads a dotted path.
    ///
    /// - Throws: `emptyFieldName` (56), `dollarPrefixedFieldName` (52), `badValue`.
    init(_ text: String) throws(StoreError) {
        guard !text.isEmpty else {
            throw StoreError(.emptyFieldName, "An empty update path is not valid.")
        }
        description = text
        var parts: [Part] = []
        for key in try FieldPath(text).parts {
            guard !key.isEmpty else {
                throw StoreError(
                    .emptyFieldName,
                    "The update path '\(text)' contains an empty field name, which is not allowed.")
            }
            parts.append(try Self.part(key, in: text, isFirst: parts.isEmpty))
        }
        self.parts = parts
    }

    private static func part(
        _ key: String, in text: String, isFirst: Bool
    ) throws(StoreError) -> Part {
        guard key.hasPrefix("$") else { return .field(key, index: FieldPath.index(key)) }
        guard !isFirst else {
            throw StoreError(
                .badValue,
                "Cannot have positional (i.e. '$') element in the first position in path '\(text)'")
        }
        if key == "$" { return .matched }
        guard key.hasPrefix("$["), key.hasSuffix("]") else {
            throw StoreError(
                .dollarPrefixedFieldName,
                "The dollar ($) prefixed field '\(key)' in '\(text)' is not valid for storage.")
        }
        let name = String(key.dropFirst(2).dropLast())
        return name.isEmpty ? .all : .filtered(name)
    }

    /// The names of array filters that the path uses.
    var filterNames: [String] {
        parts.compactMap { part in
            if case .filtered(let name) = part { name } else { nil }
        }
    }

    /// Whether one path is the other or leads through it.
    func overlaps(_ other: UpdatePath) -> Bool {
        zip(parts, other.parts).allSatisfy { $0 == $1 }
    }

    /// The order in which MongoDB changes fields: names as texts, positions as numbers.
    static func isBefore(_ left: UpdatePath, _ right: UpdatePath) -> Bool {
        for (a, b) in zip(left.parts, right.parts) where a != b {
            if case .field(_, let i?) = a, case .field(_, let j?) = b { return i < j }
            return key(a).utf8.lexicographicallyPrecedes(key(b).utf8)
        }
        return left.parts.count < right.parts.count
    }

    private static func key(_ part: Part) -> String {
        switch part {
        case .field(let key, _): key
        case .matched: "$"
        case .all: "$[]"
        case .filtered(let name): "$[\(name)]"
        }
    }
}
