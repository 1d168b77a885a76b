// Texts compare by their bytes in this package. Swift's own operators compare by canonical
// equivalence, under which two different names are equal. The operators here shadow them in each
// file that imports this module or one that exports it (`BSONQuery`, `BSONStore`), also in
// conformances that the compiler synthesizes; a tidy rule holds the imports. Dictionary keys and
// set members do not use them: there a name is a `Name`.

#if canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#elseif canImport(Darwin)
    private import Darwin
#endif

extension String {
    /// Whether both texts have the same UTF-8 bytes.
    package func hasSameBytes(as other: String) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { other in
                guard let own = own.baseAddress, let other = other.baseAddress else { return true }
                return memcmp(own, other, count) == 0
            }
        }
        if case .some(.some(let isSame)) = isSame { return isSame }
        return utf8.elementsEqual(other.utf8)
    }

    /// The parts between the dots, including empty ones, even if an accent follows a dot.
    package var dottedParts: [String] {
        guard utf8.contains(UInt8(ascii: ".")) else { return [self] }
        return utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The text before the first dot and the text behind it, even if an accent follows the dot;
    /// `nil` without a dot.
    package var splitAtFirstDot: (head: String, tail: String)? {
        guard let dot = utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        return (
            String(Substring(utf8[..<dot])), String(Substring(utf8[utf8.index(after: dot)...]))
        )
    }

    /// Whether both texts have the same bytes.
    package static func == (left: String, right: String) -> Bool { left.hasSameBytes(as: right) }

    /// Whether the bytes differ.
    package static func != (left: String, right: String) -> Bool { !left.hasSameBytes(as: right) }

    /// Whether the left text's bytes sort first.
    package static func < (left: String, right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// Whether the right text's bytes sort first.
    package static func > (left: String, right: String) -> Bool { right < left }

    /// Whether the right text's bytes do not sort first.
    package static func <= (left: String, right: String) -> Bool { !(right < left) }

    /// Whether the left text's bytes do not sort first.
    package static func >= (left: String, right: String) -> Bool { !(left < right) }

    /// Whether the text begins with the bytes of another.
    package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another.
    package func hasSuffix(_ suffix: String) -> Bool {
        utf8.count >= suffix.utf8.count
            && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Splits the text at each byte of an ASCII character, even if an accent follows it.
    ///
    /// Line breaks are characters of one byte or two; Swift's own function splits at them.
    package func split(
        separator: Character, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        guard let byte = separator.asciiValue, byte >= 0x20 else {
            return split(
                maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences
            ) { $0 == separator }
        }
        // Most names have one part.
        guard !isEmpty, utf8.contains(byte) else {
            return isEmpty && omittingEmptySubsequences ? [] : [Substring(self)]
        }
        return utf8.split(
            separator: byte, maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map { Substring($0) }
    }

    /// Returns the text without its first scalars; an accent that follows one stays.
    package func dropFirst(_ count: Int = 1) -> Substring {
        Substring(unicodeScalars.dropFirst(count))
    }
}

extension Substring {
    /// Whether the text begins with the bytes of another.
    package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether both texts have the same bytes.
    package static func == (left: Substring, right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }

    /// Whether both texts have the same bytes.
    package static func == (left: Substring, right: Substring) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}

extension Optional where Wrapped == String {
    /// Whether both exist with the same bytes, or neither exists.
    package static func == (left: String?, right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, nil): true
        case (nil, _), (_, nil): false
        }
    }

    /// Whether the bytes differ, or only one exists.
    package static func != (left: String?, right: String?) -> Bool { !(left == right) }
}

extension Array where Element == String {
    /// Whether corresponding texts have the same bytes.
    package static func == (left: [String], right: [String]) -> Bool {
        left.elementsEqual(right)
    }

    /// Whether the bytes of any two corresponding texts differ.
    package static func != (left: [String], right: [String]) -> Bool { !(left == right) }
}

extension Sequence where Element == String {
    /// Whether the sequence contains a text with the same bytes.
    package func contains(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }

    /// Whether corresponding texts have the same bytes.
    package func elementsEqual(_ other: some Sequence<String>) -> Bool {
        elementsEqual(other) { $0.hasSameBytes(as: $1) }
    }

    /// Whether the sequence begins with the texts of another, by their bytes.
    package func starts(with other: some Sequence<String>) -> Bool {
        starts(with: other) { $0.hasSameBytes(as: $1) }
    }

    /// Returns the texts sorted by their bytes.
    package func sorted() -> [String] { sorted { $0 < $1 } }
}

extension Collection where Element == String {
    /// Returns the position of the first text with the same bytes.
    package func firstIndex(of text: String) -> Index? {
        firstIndex { $0.hasSameBytes(as: text) }
    }
}

extension Set where Element == String {
    /// Whether the set contains a text with the same bytes; O(1).
    ///
    /// Of texts that Swift's own `==` takes for equal, a set holds only one.
    package func contains(_ text: String) -> Bool {
        position(of: text, in: self).map { self[$0].hasSameBytes(as: text) } ?? false
    }
}

/// Returns the position of a member by Swift's own comparison, which the hashes of a set follow.
private func position<Member>(of member: Member, in set: Set<Member>) -> Set<Member>.Index? {
    set.firstIndex(of: member)
}

/// Whether a pattern's text has the same bytes as a text.
package func ~= (pattern: String, text: String) -> Bool { pattern.hasSameBytes(as: text) }
