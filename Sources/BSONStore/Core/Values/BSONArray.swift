/// A BSON array as encoded bytes, without the keys "0", "1" ….
///
/// Arrays from other sources may have any keys: only the order of values counts. A change writes
/// correct keys from the changed position on.
public struct BSONArray: Sendable, Hashable, ExpressibleByArrayLiteral, Sequence {
    /// The document that encodes the array.
    public private(set) var document: BSONDocument

    /// Creates an array from a document's values, in order; the keys are ignored.
    public init(document: BSONDocument) { self.document = document }

    /// Creates an empty array.
    public init() { document = BSONDocument() }

    /// Encodes values in order, with one allocation.
    @inlinable
    public init(_ values: some Sequence<BSONValue>) { self.init(encoding: Array(values)) }

    @usableFromInline
    init(encoding values: [BSONValue]) {
        var count = 5
        for index in values.indices {
            count += 2 + BSONWriter.digits(index) + BSONWriter.count(values[index])
        }
        precondition(count <= Int(Int32.max), "An array holds less than 2 GiB")
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
            var at = BSONWriter.integer(Int32(truncatingIfNeeded: count), base)
            for index in values.indices {
                at.storeBytes(of: values[index].type.rawValue, as: UInt8.self)
                at = BSONWriter.write(values[index], BSONWriter.index(index, at + 1))
            }
            at.storeBytes(of: 0, as: UInt8.self)
            initialized = count
        }
        document = BSONDocument(unchecked: bytes)
    }

    /// Encodes the values in order.
    public init(arrayLiteral elements: BSONValue...) { self.init(elements) }

    /// Returns an iterator over the values in order; it decodes each value when it reaches it.
    public func makeIterator() -> Iterator { Iterator(base: document.makeIterator()) }

    /// An iterator that decodes one value after the other.
    public struct Iterator: IteratorProtocol {
        var base: BSONDocument.Iterator

        /// Decodes the next value; `nil` at the end.
        public mutating func next() -> BSONValue? { base.nextValue() }
    }

    /// All values, decoded.
    public var values: [BSONValue] { Array(self) }
    /// The number of values, in O(n) without decoding.
    public var count: Int { document.count }
    /// The exact count, so that arrays of the values are allocated once.
    public var underestimatedCount: Int { document.count }
    /// Whether the array has no values.
    public var isEmpty: Bool { document.isEmpty }

    /// The value at a position, `nil` outside; skips the values before it without decoding.
    public subscript(index: Int) -> BSONValue? {
        document.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var cursor = BSONCursor(bytes)
            return cursor.skip(to: index).map { BSONValue($0, sharing: document, at: base) }
        }
    }

    /// Appends a value in O(n); encode many values with an initializer instead.
    public mutating func append(_ value: BSONValue) {
        document.append(String(document.count), value)
    }

    /// Replaces the value at a position in place.
    ///
    /// A position outside the array is a programmer error and traps.
    public mutating func replace(at index: Int, by value: BSONValue) {
        document.put(value, place(index), nested: [])
    }

    /// Removes the value at a position and renumbers the keys behind it.
    ///
    /// A position outside the array is a programmer error and traps.
    public mutating func remove(at index: Int) {
        _ = place(index)
        var builder = BSONDocumentBuilder(reservingBytes: document.byteCount)
        document.withCursor { cursor in
            var seen = 0
            var kept = 0
            while let element = cursor.next() {
                if seen != index {
                    builder.append(index: kept, element.value)
                    kept += 1
                }
                seen += 1
            }
        }
        document = builder.finish()
    }

    private func place(_ index: Int) -> ElementLocation {
        let found = document.withUnsafeBytes {
            BSONDocument.place(at: index, in: $0, from: 0).place
        }
        guard let found else { preconditionFailure("An array has no position \(index)") }
        return found
    }
}
