extension BSONDocument: Sequence {
    /// A key with its value.
    public typealias Element = (key: String, value: BSONValue)

    /// Walks the elements in order; each is decoded when it is reached.
    public func makeIterator() -> Iterator { Iterator(document: self) }

    /// Decodes one element after the other.
    public struct Iterator: IteratorProtocol {
        private let document: BSONDocument
        private var offset = 4

        init(document: BSONDocument) { self.document = document }

        public mutating func next() -> Element? {
            let at = offset
            let found = document.withUnsafeBytes { bytes in
                document.element(at: at, in: bytes)
            }
            guard let found else { return nil }
            offset = found.end
            return (found.key, found.value)
        }
    }

    /// How many elements there are, in O(n).
    public var count: Int {
        var count = 0
        for _ in self { count += 1 }
        return count
    }

    /// Whether there is no element.
    public var isEmpty: Bool { byteCount == 5 }

    /// The keys in order.
    public var keys: [String] { map(\.key) }

    /// The value of a top-level key; setting `nil` removes it, setting a new key appends it.
    public subscript(key: String) -> BSONValue? {
        get {
            for element in self where element.key == key { return element.value }
            return nil
        }
        set { set(key, to: newValue) }
    }

    /// The value at a dotted path through documents and, by position, arrays; `nil` when missing.
    public subscript(path path: String) -> BSONValue? {
        var current: BSONValue = .document(self)
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            let next: BSONValue?
            switch current {
            case .document(let document): next = document[String(part)]
            case .array(let array): next = Int(part).flatMap { array[$0] }
            default: next = nil
            }
            guard let next else { return nil }
            current = next
        }
        return current
    }
}
