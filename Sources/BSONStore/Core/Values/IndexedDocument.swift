/// A document from which many fields are read, at a cost that does not depend on their number.
///
/// The first reads search the bytes; then the fields are indexed. Of a key that occurs twice the
/// first field counts, as in ``BSONDocument``. An instance belongs to one thread.
package final class IndexedDocument {
    /// The number of reads that search the bytes.
    package static let searchesMax = 8
    /// The size in bytes of a document that is searched as fast as it is indexed.
    package static let smallBytesMax = 256

    /// The document.
    package let document: BSONDocument
    private var searches = 0
    private var places: [Name: ElementLocation]?
    private var nested: [Name: IndexedDocument] = [:]

    /// Creates an index; it is filled when it is needed.
    package init(_ document: BSONDocument) { self.document = document }

    /// The value of a top-level key; `nil` if there is none.
    package subscript(key: String) -> BSONValue? { place(of: key).map { document.value(at: $0) } }

    /// Returns the value at a dotted path, as ``BSONDocument`` does; `nil` if there is none.
    package func value(atPath path: String) -> BSONValue? {
        guard let (head, tail) = path.splitAtFirstDot else { return self[path] }
        switch self[head] {
        case .document(let document): return document[path: tail]
        case .array(let array):
            return array.document.withUnsafeBytes { bytes in
                let base = BSONCursor.base(bytes)
                let whole = BSONRawValue(
                    typeByte: BSONType.array.rawValue, start: base, count: bytes.count)
                let found = tail.withUTF8Bytes { BSONDocument.value(at: $0, in: whole) }
                return found.map { BSONValue($0, sharing: array.document, at: base) }
            }
        default: return nil
        }
    }

    /// Returns the place of the first element with a key.
    private func place(of key: String) -> ElementLocation? {
        if let places { return places[key] }
        searches += 1
        guard searches > Self.searchesMax, document.byteCount > Self.smallBytesMax else {
            return document.place(of: key)
        }
        let places = document.places()
        self.places = places
        return places[key]
    }

    /// Returns the index of the document at a key; `nil` if there is no document, or while the
    /// fields are still searched.
    package func nested(_ key: String) -> IndexedDocument? {
        guard places != nil else { return nil }
        if let known = nested[key] { return known }
        guard case .document(let document) = self[key] else { return nil }
        let index = IndexedDocument(document)
        nested[key] = index
        return index
    }
}

extension BSONDocument {
    /// Returns the places of all fields by key; of a key that occurs twice, the first.
    func places() -> [Name: ElementLocation] {
        withUnsafeBytes { bytes in
            var places: [Name: ElementLocation] = [:]
            guard let base = bytes.baseAddress else { return places }
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                _ = WorkBudget.isOver()
                let name = Name(String(validUTF8: element.key))
                if places[name.text] == nil {
                    places[name.text] = ElementLocation(element, in: base)
                }
            }
            return places
        }
    }

    /// Decodes the value at a place.
    func value(at place: ElementLocation) -> BSONValue {
        withUnsafeBytes { bytes in
            let base = BSONCursor.base(bytes)
            let value = BSONRawValue(
                typeByte: bytes[place.element], start: base + place.value,
                count: place.element + place.count - place.value)
            return BSONValue(value, sharing: self, at: base)
        }
    }
}

extension ElementLocation {
    /// Creates the place of an element of a document that begins at an address.
    init(_ element: BSONRawElement, in base: UnsafeRawPointer) {
        let value = element.value.start - base
        let head = element.key.count + 2
        self.init(element: value - head, value: value, count: head + element.value.count)
    }
}
