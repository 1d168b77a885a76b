/// The check whether untrusted bytes are one BSON document that other code may read unchecked.
///
/// It checks all lengths and terminators, UTF-8 in keys and texts, booleans, inner lengths of
/// binaries and of code with scope, types, depth and size. Array keys are not checked: the
/// specification's corpus treats arrays with any keys as valid. It makes one pass without
/// recursion, and allocates nothing for limits up to 100 levels.
public enum BSONValidator {
    /// Checks that the bytes are exactly one document, in O(n).
    ///
    /// - Throws: the first fault with its code and byte offset; any bytes are safe to pass.
    public static func validate(
        _ bytes: UnsafeRawBufferPointer, limits: BSONLimits = BSONLimits()
    ) throws(BSONError) {
        guard let base = bytes.baseAddress, bytes.count >= 5 else {
            throw BSONError(
                .truncated, "A document has at least 5 bytes, here are \(bytes.count)",
                byteOffset: 0)
        }
        guard bytes.count <= limits.documentBytesMax else {
            throw BSONError(
                .tooLarge,
                "A document of \(bytes.count) bytes exceeds \(limits.documentBytesMax)",
                byteOffset: 0)
        }
        let declared = Int(Int32(littleEndian: base.loadUnaligned(as: Int32.self)))
        guard declared == bytes.count else {
            throw BSONError(
                declared > bytes.count ? .truncated : .invalidLength,
                "A document that says \(declared) bytes comes with \(bytes.count)", byteOffset: 0)
        }
        guard limits.depthMax >= 1 else {
            throw BSONError(.tooDeep, "Documents are nested deeper than 0 levels", byteOffset: 0)
        }
        // Most documents have no nested ones and need no stack.
        let end = bytes.count - 1
        var start = 4
        if base.load(fromByteOffset: end, as: UInt8.self) == 0 {
            start = BSONStructureValidator.skim(base, from: start, to: end, count: bytes.count)
            if start == end { return }
        }
        // A level takes at least 7 bytes, so a deeper stack would never be filled.
        let levels = min(limits.depthMax, bytes.count / 7 + 1)
        try withUnsafeTemporaryAllocation(of: Int.self, capacity: levels) {
            (ends) throws(BSONError) in
            guard let stack = ends.baseAddress else { return }
            var walk = BSONStructureValidator(
                base: base, count: bytes.count, ends: stack, depthMax: levels,
                depthLimit: limits.depthMax)
            try walk.run(from: start)
        }
    }
}
