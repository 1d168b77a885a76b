/// A single pass over untrusted bytes, with the ends of the open documents on a fixed-size stack.
struct BSONStructureValidator {
    let base: UnsafeRawPointer
    let count: Int
    private let ends: UnsafeMutablePointer<Int>
    private let depthMax: Int
    private let depthLimit: Int
    private var depth = 0
    /// The current offset; never beyond `end` while a document is open.
    var at = 0
    /// The offset of the terminator of the innermost open document; the byte there is 0.
    private(set) var end = 0

    /// Creates a validator of at least 5 bytes with room for `depthMax` ends.
    init(
        base: UnsafeRawPointer, count: Int, ends: UnsafeMutablePointer<Int>, depthMax: Int,
        depthLimit: Int
    ) {
        self.base = base
        self.count = count
        self.ends = ends
        self.depthMax = depthMax
        self.depthLimit = depthLimit
        end = count
    }

    /// Validates up to the end of the outermost document.
    ///
    /// - Parameter start: the offset of an element before which all are known to be valid.
    /// - Throws: the first fault.
    mutating func run(from start: Int = 4, skimming: Bool = true) throws(BSONError) {
        try open()
        at = start
        while true {
            if skimming { at = Self.skim(base, from: at, to: end, count: count) }
            if at == end {
                depth -= 1
                if depth == 0 { return }
                at += 1
                end = ends[depth]
                continue
            }
            let type = byte(at)
            let typeAt = at
            guard type != 0 else {
                throw BSONError(
                    .invalidLength, "A document ends before its length says", byteOffset: at)
            }
            at += 1
            try key()
            try value(type, typeAt)
        }
    }

    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 { base.load(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    private func int32(_ offset: Int) -> Int {
        Int(Int32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }

    /// Enters the document at the cursor; its last byte must be the terminator.
    @inline(__always)
    private mutating func open() throws(BSONError) {
        guard end - at >= 5 else { throw truncated(at, "a document") }
        let length = int32(at)
        guard length >= 5 else {
            throw BSONError(
                .invalidLength, "A document cannot have \(length) bytes", byteOffset: at)
        }
        guard length <= end - at else { throw truncated(at, "a document of \(length) bytes") }
        guard byte(at + length - 1) == 0 else {
            throw BSONError(
                .invalidLength, "A document does not end with a NUL", byteOffset: at + length - 1)
        }
        guard depth < depthMax else {
            throw BSONError(
                .tooDeep, "Documents are nested deeper than \(depthLimit) levels", byteOffset: at)
        }
        ends[depth] = end
        depth += 1
        end = at + length - 1
        at += 4
    }

    @inline(__always)
    private mutating func value(_ type: UInt8, _ typeAt: Int) throws(BSONError) {
        switch type {
        case 0x01, 0x09, 0x11, 0x12: try skip(8)
        case 0x02, 0x0D, 0x0E: try string(end)
        case 0x03, 0x04: try open()
        case 0x05: try binary()
        case 0x06, 0x0A, 0x7F, 0xFF: break
        case 0x07: try skip(12)
        case 0x08: try bool()
        case 0x0B:
            try key()
            try key()
        case 0x0C:
            try string(end)
            try skip(12)
        case 0x0F: try codeWithScope()
        case 0x10: try skip(4)
        case 0x13: try skip(16)
        default:
            throw BSONError(
                .unknownType, "No BSON type has the number \(type)", byteOffset: typeAt)
        }
    }

    @inline(__always)
    private mutating func skip(_ size: Int) throws(BSONError) {
        guard end - at >= size else { throw truncated(at, "a value of \(size) bytes") }
        at += size
    }

    /// Steps over a NUL-terminated text: a key or a part of a regular expression.
    @inline(__always)
    private mutating func key() throws(BSONError) {
        let from = at
        var high: UInt64 = 0
        while true {
            if count - at >= 8 {
                let word = UInt64(
                    littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self))
                let zeros = (word &- 0x0101_0101_0101_0101) & ~word & UTF8Validator.highBits
                if zeros == 0 {
                    high |= word
                    at += 8
                    continue
                }
                let shift = zeros.trailingZeroBitCount & ~7
                high |= word & ~(~0 << UInt64(shift))
                at += shift >> 3
                break
            }
            let next = byte(at)
            if next == 0 { break }
            high |= UInt64(next)
            at += 1
        }
        guard at < end else { throw truncated(from, "a key or text without its NUL") }
        if high & UTF8Validator.highBits != 0 || high & 0x80 != 0 { try checkUTF8(from, at) }
        at += 1
    }

    private func checkUTF8(_ from: Int, _ to: Int) throws(BSONError) {
        let fault = UTF8Validator.firstFault(base, from: from, to: to)
        if fault >= 0 {
            throw BSONError(.invalidUTF8, "A text is not UTF-8", byteOffset: fault)
        }
    }

    /// Steps over a text with a length prefix and a final NUL; NULs inside are content.
    @inline(__always)
    private mutating func string(_ limit: Int) throws(BSONError) {
        guard limit - at >= 5 else { throw truncated(at, "a string") }
        let length = int32(at)
        guard length >= 1 else {
            throw BSONError(
                .invalidLength, "A string cannot have \(length) bytes", byteOffset: at)
        }
        guard length <= limit - at - 4 else {
            throw truncated(at, "a string of \(length) bytes")
        }
        let last = at + 3 + length
        guard byte(last) == 0 else {
            throw BSONError(.invalidLength, "A string does not end with a NUL", byteOffset: last)
        }
        let fault = UTF8Validator.firstFault(base, from: at + 4, to: last)
        if fault >= 0 {
            throw BSONError(.invalidUTF8, "A string is not UTF-8", byteOffset: fault)
        }
        at = last + 1
    }

    private mutating func bool() throws(BSONError) {
        guard at < end else { throw truncated(at, "a boolean") }
        guard byte(at) <= 1 else {
            throw BSONError(
                .invalidBool, "A boolean is 0 or 1, not \(byte(at))", byteOffset: at)
        }
        at += 1
    }

    private mutating func binary() throws(BSONError) {
        guard end - at >= 5 else { throw truncated(at, "a binary") }
        let length = int32(at)
        guard length >= 0 else {
            throw BSONError(
                .invalidLength, "A binary cannot have \(length) bytes", byteOffset: at)
        }
        guard length <= end - at - 5 else {
            throw truncated(at, "a binary of \(length) bytes")
        }
        if byte(at + 4) == 2 {
            guard length >= 4, int32(at + 5) == length - 4 else {
                throw BSONError(
                    .invalidBinary, "The inner length of an old binary is wrong",
                    byteOffset: at + 5)
            }
        }
        at += 5 + length
    }

    /// Steps over code and enters its scope, which must end where the whole value ends.
    private mutating func codeWithScope() throws(BSONError) {
        guard end - at >= 14 else { throw truncated(at, "code with scope") }
        let length = int32(at)
        guard length >= 14 else {
            throw BSONError(
                .invalidLength, "Code with scope cannot have \(length) bytes", byteOffset: at)
        }
        guard length <= end - at else {
            throw truncated(at, "code with scope of \(length) bytes")
        }
        let limit = at + length
        at += 4
        try string(limit - 5)
        guard int32(at) == limit - at else {
            throw BSONError(
                .invalidLength, "A scope does not end where its value does", byteOffset: at)
        }
        try open()
    }

    private func truncated(_ offset: Int, _ what: String) -> BSONError {
        BSONError(.truncated, "The document ends inside of \(what)", byteOffset: offset)
    }
}
