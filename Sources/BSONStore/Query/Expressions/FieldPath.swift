/// A path to a field: its keys, written with dots.
package struct FieldPath: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of keys in a path.
    static let partsMax = 200

    /// The keys; empty for the value itself.
    package let parts: [String]

    /// The path of the value itself.
    static let itself = FieldPath(parts: [])

    package init(parts: [String]) { self.parts = parts }

    /// Whether both paths have the same names, by their bytes.
    package static func == (left: FieldPath, right: FieldPath) -> Bool {
        left.parts.hasSameBytes(as: right.parts)
    }

    /// Splits a dotted text.
    ///
    /// - Throws: 5729100 for too many parts.
    init(_ text: String) throws(StoreError) {
        parts = text.dottedParts
        guard parts.count <= Self.partsMax else {
            throw StoreError(
                .fieldPathTooLong, "FieldPath is too long")
        }
    }

    package var description: String { parts.joined(separator: ".") }

    /// Returns the array position that a part names, `nil` if it is not a plain number.
    package static func index(_ part: String) -> Int? {
        guard !part.isEmpty, part.utf8.count < 10,
            part.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            part == "0" || part.utf8.first != UInt8(ascii: "0")
        else { return nil }
        return Int(part)
    }
}
