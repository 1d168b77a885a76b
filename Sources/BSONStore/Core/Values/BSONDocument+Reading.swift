extension BSONDocument: Sequence {
    /// A key with its value.
    public typealias Element = (key: String, value: BSONValue)

    /// Returns an iterator over the elements in order; it decodes each one when it reaches it.
    public func makeIterator() -> Iterator { Iterator(document: self) }

    /// An iterator that decodes one element after the other.
    public struct Iterator: IteratorProtocol {
        private let document: BSONDocument
        private var offset = 4

        init(document: BSONDocument) { self.document = document }

        /// Decodes the next element; `nil` at the end.
        public mutating func next() -> Element? {
            // The address outlives the closure that lends it, but not this call, during which the
            // iterator holds the document. Returning the result from the closure would copy it once
            // more, which costs as much as decoding a number.
            let (base, end) = document.withUnsafeBytes { bytes in
                (BSONCursor.base(bytes), BSONCursor.base(bytes) + bytes.count - 1)
            }
            defer { withExtendedLifetime(document) {} }
            let at = base + offset
            guard at < end else { return nil }
            let count = BSONCursor.textCount(at + 1, end)
            let key = String(validUTF8: UnsafeRawBufferPointer(start: at + 1, count: count))
            var next = at + count + 2
            let value = BSONValue.decode(
                at.load(as: UInt8.self), &next, end, in: document, at: base)
            offset = next - base
            return (key, value)
        }

        /// Steps to the next value without making a string of its key.
        mutating func nextValue() -> BSONValue? {
            let (base, end) = document.withUnsafeBytes { bytes in
                (BSONCursor.base(bytes), BSONCursor.base(bytes) + bytes.count - 1)
            }
            defer { withExtendedLifetime(document) {} }
            let at = base + offset
            guard at < end else { return nil }
            var next = at + BSONCursor.textCount(at + 1, end) + 2
            let value = BSONValue.decode(
                at.load(as: UInt8.self), &next, end, in: document, at: base)
            offset = next - base
            return value
        }
    }

    /// The number of elements, in O(n) without decoding.
    public var count: Int {
        withCursor { cursor in
            var count = 0
            while cursor.next() != nil { count += 1 }
            return count
        }
    }

    /// The exact count, so that arrays of the elements are allocated once.
    public var underestimatedCount: Int { count }

    /// Whether the document has no elements.
    public var isEmpty: Bool { byteCount == 5 }

    /// The keys in order.
    public var keys: [String] {
        withCursor { cursor in
            var keys: [String] = []
            while let element = cursor.next() { keys.append(String(validUTF8: element.key)) }
            return keys
        }
    }

    /// Whether a top-level key exists, whatever its value.
    public func contains(key: String) -> Bool {
        key.withUTF8Bytes { wanted in
            withCursor { $0.next(withKey: wanted) != nil }
        }
    }

    /// The value of a top-level key; setting `nil` removes it, setting a new key appends it.
    ///
    /// Reading decodes this value only. Setting equals ``set(_:to:)``: a key with a NUL traps.
    public subscript(key: String) -> BSONValue? {
        get {
            withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return nil }
                var cursor = BSONCursor(bytes)
                return key.withUTF8Bytes { cursor.next(withKey: $0) }
                    .map { BSONValue($0, sharing: self, at: base) }
            }
        }
        set { set(key, to: newValue) }
    }

    /// The first element.
    package var firstElement: Element? {
        var elements = makeIterator()
        return elements.next()
    }
}
