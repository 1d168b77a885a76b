#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A writer of parts of elements to memory of the measured size.
///
/// Every function returns the address behind the bytes that it wrote; every measure is exact.
@usableFromInline
package enum BSONWriter {
    /// Returns the number of bytes of type, key and NUL.
    @inline(__always)
    static func headCount(_ key: String) -> Int { key.utf8.count + 2 }

    /// Returns the number of bytes of a value.
    package static func count(_ value: BSONValue) -> Int {
        switch value {
        case .double, .datetime, .timestamp, .int64: 8
        case .string(let value), .javascript(let value), .symbol(let value):
            5 + value.utf8.count
        case .document(let value): value.byteCount
        case .array(let value): value.document.byteCount
        case .binary(let value): 5 + value.wireCount
        case .undefined, .null, .minKey, .maxKey: 0
        case .objectID: 12
        case .bool: 1
        case .regularExpression(let value):
            value.pattern.utf8.count + value.options.utf8.count + 2
        case .dbPointer(let value): 17 + value.namespace.utf8.count
        case .javascriptWithScope(let value): 9 + value.code.utf8.count + value.scope.byteCount
        case .int32: 4
        case .decimal128: 16
        }
    }

    /// Writes type, key and NUL; a key that contains a NUL traps.
    @inline(__always)
    static func head(
        _ type: BSONType, _ key: String, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        at.storeBytes(of: type.rawValue, as: UInt8.self)
        return self.key(key, at + 1)
    }

    /// Writes a value.
    static func write(
        _ value: BSONValue, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        switch value {
        case .double(let value): return integer(value.bitPattern, at)
        case .string(let value), .javascript(let value), .symbol(let value):
            return string(value, at)
        case .document(let value): return document(value, at)
        case .array(let value): return document(value.document, at)
        case .binary(let value): return binary(value, at)
        case .undefined, .null, .minKey, .maxKey: return at
        case .objectID(let value): return objectID(value, at)
        case .bool(let value):
            at.storeBytes(of: value ? 1 : 0, as: UInt8.self)
            return at + 1
        case .datetime(let value): return integer(value.milliseconds, at)
        case .regularExpression(let value):
            return cString(value.options, cString(value.pattern, at))
        case .dbPointer(let value): return objectID(value.id, string(value.namespace, at))
        case .javascriptWithScope(let value):
            let code = string(value.code, at + 4)
            let end = document(value.scope, code)
            _ = integer(Int32(truncatingIfNeeded: end - at), at)
            return end
        case .int32(let value): return integer(value, at)
        case .timestamp(let value): return integer(value.seconds, integer(value.increment, at))
        case .int64(let value): return integer(value, at)
        case .decimal128(let value): return integer(value.high, integer(value.low, at))
        }
    }

    /// Writes a number in little endian.
    @inline(__always)
    static func integer<T: FixedWidthInteger & BitwiseCopyable>(
        _ value: T, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        at.storeBytes(of: value.littleEndian, as: T.self)
        return at + MemoryLayout<T>.size
    }

    /// Writes a key and its NUL; a key that contains a NUL traps.
    ///
    /// It checks for the NUL in the words that it copies, which costs less than a call.
    @inlinable
    @inline(__always)
    static func key(_ key: String, _ at: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        key.withUTF8Bytes { bytes in
            guard let from = bytes.baseAddress, bytes.count > 0 else {
                at.storeBytes(of: 0, as: UInt8.self)
                return at + 1
            }
            return self.key(from, bytes.count, at)
        }
    }

    /// Writes a key's bytes and a NUL; traps for a NUL among them.
    @inlinable
    @inline(__always)
    static func key(
        _ from: UnsafeRawPointer, _ count: Int, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        var zeros: UInt64 = 0
        // The last load and store may overlap the previous one: no step is as small as a byte.
        if count >= 8 {
            var copied = 0
            while copied < count &- 8 {
                zeros |= copyWord(from + copied, at + copied)
                copied = copied &+ 8
            }
            zeros |= copyWord(from + (count &- 8), at + (count &- 8))
        } else if count >= 4 {
            let first = from.loadUnaligned(as: UInt32.self)
            let last = from.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            at.storeBytes(of: first, as: UInt32.self)
            at.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
            zeros = self.zeros(UInt64(first) | UInt64(last) &<< 32)
        } else {
            for offset in 0..<count {
                let byte = from.load(fromByteOffset: offset, as: UInt8.self)
                if byte == 0 { zeros = 1 }
                at.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            }
        }
        precondition(zeros == 0, "A BSON key cannot hold a NUL")
        at.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return at + count + 1
    }

    /// Copies eight bytes; the result is nonzero if one of them is NUL.
    @inlinable
    @inline(__always)
    static func copyWord(_ from: UnsafeRawPointer, _ at: UnsafeMutableRawPointer) -> UInt64 {
        let word = from.loadUnaligned(as: UInt64.self)
        at.storeBytes(of: word, as: UInt64.self)
        return zeros(word)
    }

    /// Returns a nonzero number if one of eight bytes is NUL.
    @inlinable
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Writes a text and a NUL behind it.
    @inline(__always)
    static func cString(
        _ text: String, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        let count = copy(text, at)
        at.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return at + count + 1
    }

    /// Writes a text's length, the text and a NUL.
    @inline(__always)
    static func string(
        _ text: String, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        let end = cString(text, at + 4)
        _ = integer(Int32(truncatingIfNeeded: end - at - 4), at)
        return end
    }

    /// Writes a whole document.
    @inline(__always)
    static func document(
        _ value: BSONDocument, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        value.withUnsafeBytes { bytes in
            at.copy(bytes)
            return at + bytes.count
        }
    }

    /// Writes the 12 bytes of an ObjectId.
    @inline(__always)
    static func objectID(
        _ value: BSONObjectID, _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        at.storeBytes(of: value.high.bigEndian, as: UInt64.self)
        at.storeBytes(of: value.low.bigEndian, toByteOffset: 8, as: UInt32.self)
        return at + 12
    }

    private static func binary(
        _ value: BSONBinary, _ start: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        var at = integer(Int32(truncatingIfNeeded: value.wireCount), start)
        at.storeBytes(of: value.subtype, as: UInt8.self)
        at += 1
        if value.subtype == 2 { at = integer(Int32(truncatingIfNeeded: value.bytes.count), at) }
        value.bytes.withUnsafeBytes { at.copy($0) }
        return at + value.bytes.count
    }

    /// Writes the key of an array's position: its decimal digits and a NUL.
    @inline(__always)
    static func index(_ index: Int, _ at: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        let count = digits(index)
        var left = index
        for place in stride(from: count - 1, through: 0, by: -1) {
            at.storeBytes(
                of: 48 + UInt8(truncatingIfNeeded: left % 10), toByteOffset: place, as: UInt8.self)
            left /= 10
        }
        at.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return at + count + 1
    }

    /// Returns the number of decimal digits of a position.
    @inline(__always)
    package static func digits(_ index: Int) -> Int {
        var (count, bound) = (1, 10)
        while index >= bound {
            count += 1
            bound *= 10
        }
        return count
    }

    @inline(__always)
    private static func copy(_ text: String, _ at: UnsafeMutableRawPointer) -> Int {
        text.withUTF8Bytes { bytes in
            at.copy(bytes)
            return bytes.count
        }
    }
}

extension UnsafeMutableRawPointer {
    /// Copies bytes to this address.
    @inline(__always)
    func copy(_ bytes: UnsafeRawBufferPointer) {
        guard let from = bytes.baseAddress else { return }
        memcpy(self, from, bytes.count)
    }
}

extension String {
    /// Calls a closure with the UTF-8, without needing a variable.
    @inlinable
    @inline(__always)
    package func withUTF8Bytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let found = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if let found { return found }
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Whether the text contains a NUL, which keys and regular expressions cannot.
    @inline(__always)
    var holdsNull: Bool {
        withUTF8Bytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return memchr(base, 0, bytes.count) != nil
        }
    }
}
