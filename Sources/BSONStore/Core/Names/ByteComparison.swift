// Swift compares texts by canonical equivalence, under which two different names are equal. What
// follows compares their bytes, by names of its own: `hasSameBytes(as:)` for `==`. Where a type
// holds names that it compares, they are of type `Name`. Swift's own operators are right where one
// side is a constant of plain letters, as in `key == "$and"`.

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

    /// Whether the text's bytes sort before another's.
    package func bytesPrecede(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
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

    /// Splits the text at each byte of an ASCII character, even if an accent follows it.
    package func split(
        atByte separator: Unicode.Scalar, maxSplits: Int = .max,
        omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map { Substring($0) }
    }

    /// Whether the text begins with the bytes of another, even if an accent follows them.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another.
    package func hasByteSuffix(_ suffix: String) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Returns the text without its first bytes; an accent that follows them stays.
    package func droppingBytes(_ count: Int) -> String {
        String(decoding: utf8.dropFirst(count), as: UTF8.self)
    }

    /// Returns the text without its last bytes, even if they are part of a character.
    package func droppingLastBytes(_ count: Int) -> String {
        String(decoding: utf8.dropLast(count), as: UTF8.self)
    }
}

extension Substring {
    /// Whether the text begins with the bytes of another, even if an accent follows them.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another.
    package func hasByteSuffix(_ suffix: String) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}

extension Optional where Wrapped == String {
    /// Whether both exist with the same bytes, or neither exists.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (let own?, let other?): own.hasSameBytes(as: other)
        case (nil, nil): true
        case (nil, _), (_, nil): false
        }
    }
}

extension Sequence where Element == String {
    /// Whether corresponding texts have the same bytes.
    package func hasSameBytes(as other: some Sequence<String>) -> Bool {
        elementsEqual(other) { $0.hasSameBytes(as: $1) }
    }

    /// Whether the sequence contains a text with the same bytes.
    package func containsBytes(of text: String) -> Bool {
        contains { $0.hasSameBytes(as: text) }
    }

    /// Returns the texts sorted by their bytes.
    package func sortedByBytes() -> [String] { sorted { $0.bytesPrecede($1) } }
}
