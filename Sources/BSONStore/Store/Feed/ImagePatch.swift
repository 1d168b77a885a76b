/// A document stored as its difference from another one: most updates change a few bytes.
///
/// The stored bytes: an int32 zero, where a document has its length; as int32 each the number of
/// common bytes after the lengths and of common bytes at the end; the bytes in between.
enum ImagePatch {
    private static let headCount = 12

    /// Calls a body with the stored form of the document relative to the other.
    static func lend<R, E: Error>(
        _ document: BSONDocument, beside other: BSONDocument?,
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try document.withUnsafeBytes { (bytes) throws(E) -> R in
            guard let other else { return try body(bytes) }
            return try other.withUnsafeBytes { (others) throws(E) -> R in
                let (prefix, suffix) = common(bytes, others)
                let rest = bytes.count - 4 - prefix - suffix
                // A small saving does not justify the work to restore the document.
                guard headCount + rest < bytes.count / 2 else { return try body(bytes) }
                return try withUnsafeTemporaryAllocation(
                    byteCount: headCount + rest, alignment: 8
                ) { (patch) throws(E) -> R in
                    patch.storeBytes(of: 0, as: Int32.self)
                    store(prefix, 4, patch)
                    store(suffix, 8, patch)
                    UnsafeMutableRawBufferPointer(rebasing: patch[headCount...])
                        .copyMemory(
                            from: UnsafeRawBufferPointer(
                                rebasing: bytes[(4 + prefix)...].prefix(rest)))
                    return try body(UnsafeRawBufferPointer(patch))
                }
            }
        }
    }

    /// Restores a document from its stored form and the other document.
    ///
    /// - Throws: the first error of bytes that are neither a document nor a patch of the other.
    static func document(
        _ stored: UnsafeRawBufferPointer, beside other: BSONDocument?
    ) throws(BSONError) -> BSONDocument {
        guard stored.count >= headCount, load(0, stored) == 0, let other else {
            return try BSONDocument(validating: stored)
        }
        let (prefix, suffix) = (load(4, stored), load(8, stored))
        let room = other.byteCount - 4
        guard prefix >= 0, suffix >= 0, prefix <= room, suffix <= room - prefix else {
            throw BSONError(.invalidLength, "A patch is longer than its document")
        }
        let count = 4 + prefix + stored.count - headCount + suffix
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        withUnsafeBytes(of: Int32(truncatingIfNeeded: count).littleEndian) {
            bytes.append(contentsOf: $0)
        }
        other.withUnsafeBytes { others in
            bytes.append(contentsOf: others[4..<4 + prefix])
            bytes.append(contentsOf: stored[headCount...])
            bytes.append(contentsOf: others[(others.count - suffix)...])
        }
        return try BSONDocument(validating: bytes)
    }

    /// Returns how many leading bytes, without lengths, a stored document shares with the other.
    static func sharedCount(_ stored: UnsafeRawBufferPointer) -> Int {
        stored.count >= headCount && load(0, stored) == 0 ? 4 + max(0, load(4, stored)) : 0
    }

    /// Returns how many bytes two documents share after their lengths, at the start and at the end.
    private static func common(
        _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer
    ) -> (prefix: Int, suffix: Int) {
        let room = min(one.count, other.count) - 4
        var prefix = 0
        while room - prefix >= 8, word(one, 4 + prefix) == word(other, 4 + prefix) { prefix += 8 }
        while prefix < room, one[4 + prefix] == other[4 + prefix] { prefix += 1 }
        let (end, otherEnd) = (one.count, other.count)
        var suffix = 0
        while room - prefix - suffix >= 8,
            word(one, end - suffix - 8) == word(other, otherEnd - suffix - 8)
        {
            suffix += 8
        }
        while suffix < room - prefix, one[end - suffix - 1] == other[otherEnd - suffix - 1] {
            suffix += 1
        }
        return (prefix, suffix)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private static func load(_ offset: Int, _ bytes: UnsafeRawBufferPointer) -> Int {
        Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }

    private static func store(
        _ value: Int, _ offset: Int, _ bytes: UnsafeMutableRawBufferPointer
    ) {
        bytes.storeBytes(
            of: Int32(truncatingIfNeeded: value).littleEndian, toByteOffset: offset,
            as: Int32.self)
    }
}
