/// Holds the values of a BSON array as encoded bytes; the keys "0", "1" … are never shown.
///
/// Foreign arrays may have any keys; only the order of values counts, and what this type writes
/// has the right keys again from the first changed place on.
public struct BSONArray: Sendable, Hashable, ExpressibleByArrayLiteral, Sequence {
    /// The array as the document that it is on the wire.
    public private(set) var document: BSONDocument

    /// Takes a document whose values are the array's, in order; its keys are not looked at.
    public init(document: BSONDocument) { self.document = document }

    /// Makes an empty array.
    public init() { document = BSONDocument() }

    /// Encodes values in order; measured first, then encoded with one allocation.
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

    /// Walks the values in order; a value is decoded when it is reached.
    public func makeIterator() -> Iterator { Iterator(base: document.makeIterator()) }

    /// Decodes one value after the other.
    public struct Iterator: IteratorProtocol {
        var base: BSONDocument.Iterator

        /// Decodes the next value; `nil` at the end.
        public mutating func next() -> BSONValue? { base.nextValue() }
    }

    /// All values, decoded.
    public var values: [BSONValue] { Array(self) }
    /// How many values there are, in O(n) without decoding.
    public var count: Int { document.count }
    /// Counts exactly, so that arrays of the values are allocated once.
    public var underestimatedCount: Int { document.count }
    /// Whether there is no value.
    public var isEmpty: Bool { document.isEmpty }

    /// The value at a position, `nil` outside; steps over the values before it without decoding.
    public subscript(index: Int) -> BSONValue? {
        document.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var cursor = BSONCursor(bytes)
            return cursor.skip(to: index).map { BSONValue($0, sharing: document, at: base) }
        }
    }

    /// Appends a value; counts the values first, so that many are better encoded at once.
    public mutating func append(_ value: BSONValue) {
        document.append(String(document.count), value)
    }

    /// Replaces the value at a position in place.
    ///
    /// A position outside of the array is a programmer error and traps.
    public mutating func replace(at index: Int, by value: BSONValue) {
        document.put(value, place(index), nested: [])
    }

    /// Removes the value at a position and gives those behind it their new keys.
    ///
    /// A position outside of the array is a programmer error and traps.
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
