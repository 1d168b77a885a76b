extension BSONDocument {
    /// Encodes pairs in order with the given keys, with one allocation.
    ///
    /// A key with a NUL traps.
    @inlinable
    public init(_ pairs: some Sequence<(String, BSONValue)>) { self.init(encoding: Array(pairs)) }

    @usableFromInline
    init(encoding pairs: [(String, BSONValue)]) {
        // By address: a loop over the array would retain each pair.
        let bytes = pairs.withUnsafeBufferPointer { pairs in
            var count = 5
            for index in pairs.indices {
                count += BSONWriter.headCount(pairs[index].0) + BSONWriter.count(pairs[index].1)
            }
            precondition(count <= Int(Int32.max), "A document holds less than 2 GiB")
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
                var at = BSONWriter.integer(Int32(truncatingIfNeeded: count), base)
                for index in pairs.indices {
                    at = BSONWriter.head(pairs[index].1.type, pairs[index].0, at)
                    at = BSONWriter.write(pairs[index].1, at)
                }
                at.storeBytes(of: 0, as: UInt8.self)
                initialized = count
            }
        }
        self.init(unchecked: bytes)
    }

    /// Creates a document from the elements that the closure writes.
    @inlinable
    public static func build<E: Error>(
        reservingBytes: Int = 4096, _ body: (inout BSONDocumentBuilder) throws(E) -> Void
    ) throws(E) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: reservingBytes)
        try body(&builder)
        return builder.finish()
    }

    /// Appends an element without checking whether the key exists.
    ///
    /// Amortised O(size of the element) if the bytes are not shared. A key with a NUL traps.
    public mutating func append(_ key: String, _ value: BSONValue) {
        insert(Self.checked(key), value, at: Int(length) - 1, removing: 0)
    }

    /// Appends an element with an untrusted key.
    ///
    /// - Throws: ``BSONError/Code/embeddedNull`` for a key that holds a NUL.
    public mutating func append(
        validatingKey key: String, _ value: BSONValue
    ) throws(BSONError) {
        guard !key.holdsNull else { throw Self.embeddedNull }
        insert(key, value, at: Int(length) - 1, removing: 0)
    }

    /// Replaces the value of a key in place, appends a new key, or removes the key for `nil`.
    ///
    /// If a key occurs twice, the first one is changed. A key with a NUL traps.
    public mutating func set(_ key: String, to value: BSONValue?) {
        replace(Self.checked(key), by: value)
    }

    /// Sets the value of an untrusted key, see ``set(_:to:)``.
    ///
    /// - Throws: ``BSONError/Code/embeddedNull`` for a key that holds a NUL.
    public mutating func set(
        validatingKey key: String, to value: BSONValue?
    ) throws(BSONError) {
        guard !key.holdsNull else { throw Self.embeddedNull }
        replace(key, by: value)
    }

    /// Removes a top-level key and returns its value.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> BSONValue? {
        guard let value = self[key] else { return nil }
        replace(key, by: nil)
        return value
    }

    /// Removes the first element with a key and returns whether there was one.
    package mutating func removeFirst(_ key: String) -> Bool {
        guard let place = place(of: key) else { return false }
        // Shared bytes are copied once, without the element.
        self = without(place.element..<place.element + place.count)
        return true
    }

    /// Returns the document without the elements of a key, and the first of their values.
    package func parted(from key: String) -> (rest: BSONDocument, first: BSONValue?) {
        var first: BSONValue?
        var (start, end, count) = (0, 0, 0)
        withUnsafeBytes { bytes in
            key.withUTF8Bytes { wanted in
                guard let base = bytes.baseAddress else { return }
                var cursor = BSONCursor(bytes)
                while let value = cursor.next(withKey: wanted) {
                    count += 1
                    guard count == 1 else { continue }
                    first = BSONValue(value, sharing: self, at: base)
                    end = value.start + value.count - base
                    start = value.start - base - wanted.count - 2
                }
            }
        }
        guard count > 0 else { return (self, nil) }
        var rest = without(start..<end)
        if count > 1 { while rest.removeFirst(key) {} }
        return (rest, first)
    }

    /// Returns a copy without the bytes of one element.
    private func without(_ element: Range<Int>) -> BSONDocument {
        var rest: [UInt8] = []
        rest.reserveCapacity(Int(length) - element.count)
        withUnsafeBytes { bytes in
            rest.append(contentsOf: bytes[..<element.lowerBound])
            rest.append(contentsOf: bytes[element.upperBound...])
        }
        rest.withUnsafeMutableBytes {
            $0.storeBytes(of: (length - Int32(element.count)).littleEndian, as: Int32.self)
        }
        return BSONDocument(unchecked: rest)
    }

    /// Removes all elements.
    public mutating func removeAll() { self = BSONDocument() }

    /// The error for a key that cannot be encoded.
    static var embeddedNull: BSONError {
        BSONError(.embeddedNull, "A key cannot hold a NUL")
    }

    /// Returns a key that can be encoded, and traps for others.
    @inline(__always)
    static func checked(_ key: String) -> String {
        precondition(!key.holdsNull, "A BSON key cannot hold a NUL")
        return key
    }

    private mutating func replace(_ key: String, by value: BSONValue?) {
        guard let place = place(of: key) else {
            if let value { insert(key, value, at: Int(length) - 1, removing: 0) }
            return
        }
        if let value {
            put(value, place, nested: [])
        } else {
            splice(at: place.element, removing: place.count, inserting: 0) { _ in }
        }
    }

    private mutating func insert(
        _ key: String, _ value: BSONValue, at offset: Int, removing removed: Int
    ) {
        let count = BSONWriter.headCount(key) + BSONWriter.count(value)
        splice(at: offset, removing: removed, inserting: count) {
            _ = BSONWriter.write(value, BSONWriter.head(value.type, key, $0))
        }
    }

    /// Replaces type and value of an element, keeping its key.
    mutating func put(_ value: BSONValue, _ place: ElementLocation, nested: [Int]) {
        let type = value.type.rawValue
        splice(
            at: place.value, removing: place.element + place.count - place.value,
            inserting: BSONWriter.count(value), nested: nested
        ) { address in
            (address - (place.value - place.element)).storeBytes(of: type, as: UInt8.self)
            _ = BSONWriter.write(value, address)
        }
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    /// Encodes the pairs in order with the given keys; a key with a NUL traps.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}

/// The place of an element in the bytes of the outermost document.
struct ElementLocation {
    /// The offset of the type's byte.
    let element: Int
    /// The offset of the value.
    let value: Int
    /// The size of type, key and value.
    let count: Int
}

extension BSONDocument {
    /// Returns the place of the first element with a key.
    func place(of key: String) -> ElementLocation? {
        withUnsafeBytes { bytes in
            key.withUTF8Bytes { Self.place(of: $0, in: bytes, from: 0) }
        }
    }

    /// Returns the place of the first element with a key in the document at an offset.
    static func place(
        of key: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from offset: Int
    ) -> ElementLocation? {
        guard let base = bytes.baseAddress else { return nil }
        var cursor = BSONCursor(
            UnsafeRawBufferPointer(start: base + offset, count: length(in: bytes, at: offset)))
        guard let value = cursor.next(withKey: key) else { return nil }
        let element = value.start - base - key.count - 2
        return ElementLocation(
            element: element, value: value.start - base, count: key.count + 2 + value.count)
    }

    /// Returns the element at a position of the array at an offset, and the number of elements
    /// read: the array's count if there is no such position.
    static func place(
        at index: Int, in bytes: UnsafeRawBufferPointer, from offset: Int
    ) -> (place: ElementLocation?, seen: Int) {
        guard let base = bytes.baseAddress else { return (nil, 0) }
        var cursor = BSONCursor(
            UnsafeRawBufferPointer(start: base + offset, count: length(in: bytes, at: offset)))
        var seen = 0
        while let element = cursor.next() {
            if seen == index {
                let value = element.value.start - base
                let head = element.key.count + 2
                return (
                    ElementLocation(
                        element: value - head, value: value, count: head + element.value.count),
                    seen
                )
            }
            seen += 1
        }
        return (nil, seen)
    }

    /// Returns the length prefix of the document at an offset.
    static func length(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }
}
