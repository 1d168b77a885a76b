internal import BSONStore

/// The elements of an array of documents by their ids.
struct KeyedElements {
    /// An element's id, by value: the int32 1 is the double 1.0.
    typealias ID = [UInt8]

    private let values: [BSONValue]
    /// The ids, in the array's order.
    let ids: [ID]
    /// The positions of the ids.
    let places: [ID: Int]

    /// Reads an array; `nil` for other values, for an element that is no document with an `_id` or
    /// an `id`, and for two elements of one id.
    init?(_ value: BSONValue) {
        guard let array = value.arrayValue else { return nil }
        values = array.values
        var (ids, places): ([ID], [ID: Int]) = ([], [:])
        for (index, value) in values.enumerated() {
            guard let document = value.documentValue, let id = document["_id"] ?? document["id"]
            else { return nil }
            let key = BSONKey.encode(id)
            guard places.updateValue(index, forKey: key) == nil else { return nil }
            ids.append(key)
        }
        (self.ids, self.places) = (ids, places)
    }

    /// The element with an id.
    subscript(id: ID) -> BSONValue? { places[id].map { values[$0] } }

    /// Returns the ids of both sides in the order of the merged array.
    ///
    /// The order is the remote's, or the local one if the remote did not move elements. What only
    /// the other side has stands behind the element that it follows there.
    static func order(
        base: KeyedElements, local: KeyedElements, remote: KeyedElements
    ) -> [ID] {
        let isMoved =
            remote.ids.compactMap { base.places[$0] }
            != base.ids.compactMap {
                remote.places[$0] == nil ? nil : base.places[$0]
            }
        let (main, other) = isMoved ? (remote, local) : (local, remote)
        var first: [ID] = []
        var following: [ID: [ID]] = [:]
        var last: ID?
        for id in other.ids {
            if main.places[id] != nil {
                last = id
            } else if let last {
                following[last, default: []].append(id)
            } else {
                first.append(id)
            }
        }
        return main.ids.reduce(into: first) { order, id in
            order.append(id)
            order += following[id] ?? []
        }
    }
}
