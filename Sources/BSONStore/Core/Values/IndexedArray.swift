/// An array of which many elements are read by position, at a cost that does not depend on it.
///
/// The first reads pass the elements before; then the places of all are kept. An instance belongs to
/// one thread.
package final class IndexedArray {
    /// The number of reads that pass the elements before.
    private static let searchesMax = 4

    private let array: BSONArray
    private var searches = 0
    private var places: [ElementLocation]?

    /// Creates an index; it is filled when it is needed.
    package init(_ array: BSONArray) { self.array = array }

    /// Whether another array is the same bytes in memory.
    package func isOf(_ other: BSONArray) -> Bool {
        array.document.withUnsafeBytes { mine in
            other.document.withUnsafeBytes { theirs in
                mine.baseAddress == theirs.baseAddress && mine.count == theirs.count
            }
        }
    }

    /// The element at a position, counted from the end if negative; `nil` outside.
    package subscript(position: Int) -> BSONValue? {
        searches += 1
        if places == nil, searches > Self.searchesMax { places = array.document.elementPlaces() }
        guard let places else {
            return array[position < 0 ? array.count + position : position]
        }
        let index = position < 0 ? places.count + position : position
        return places.indices.contains(index) ? array.document.value(at: places[index]) : .none
    }
}

extension BSONDocument {
    /// Returns the places of all elements in order.
    fileprivate func elementPlaces() -> [ElementLocation] {
        withUnsafeBytes { bytes in
            var places: [ElementLocation] = []
            guard let base = bytes.baseAddress else { return places }
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                _ = WorkBudget.isOver()
                places.append(ElementLocation(element, in: base))
            }
            return places
        }
    }
}
