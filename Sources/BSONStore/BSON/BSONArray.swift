/// Holds the values of a BSON array as encoded bytes; the keys "0", "1" … are never shown.
public struct BSONArray: Sendable, Hashable, ExpressibleByArrayLiteral, Sequence {
    /// The array as the document that it is on the wire.
    public let document: BSONDocument

    /// Takes a document whose values are the array's, in order; its keys are not looked at.
    public init(document: BSONDocument) { self.document = document }

    /// Encodes values in order.
    public init(_ values: some Sequence<BSONValue>) {
        var document = BSONDocument()
        for (index, value) in values.enumerated() { document.append(String(index), value) }
        self.document = document
    }

    public init(arrayLiteral elements: BSONValue...) { self.init(elements) }

    /// Walks the values in order; a value is decoded when it is reached.
    public func makeIterator() -> Iterator { Iterator(base: document.makeIterator()) }

    /// Decodes one value after the other.
    public struct Iterator: IteratorProtocol {
        var base: BSONDocument.Iterator

        public mutating func next() -> BSONValue? { base.next()?.value }
    }

    /// All values, decoded.
    public var values: [BSONValue] { Array(self) }
    /// How many values there are, in O(n).
    public var count: Int { document.count }
    /// Whether there is no value.
    public var isEmpty: Bool { document.isEmpty }

    /// The value at a position, `nil` outside; O(n).
    public subscript(index: Int) -> BSONValue? {
        guard index >= 0 else { return nil }
        var iterator = makeIterator()
        var position = 0
        while let value = iterator.next() {
            if position == index { return value }
            position += 1
        }
        return nil
    }
}
