/// The difference between two lists of a live query, as a list on the screen animates it.
///
/// The indexes mean what those of `UITableView.performBatchUpdates` mean: ``removed`` and the `from`
/// of ``moved`` are places in the old list; ``inserted``, ``changed`` and the `to` of ``moved`` are
/// places in the new one.
///
/// ```swift
/// snapshot.changes.apply(to: &rows) { index in Row(snapshot.documents[index]) }
/// ```
public struct ListChanges: Sendable, Hashable {
    /// A document that changed its place among those that stay.
    public struct Move: Sendable, Hashable {
        /// The place in the old list.
        public let from: Int
        /// The place in the new list.
        public let to: Int

        /// Creates a move between two places.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The places in the old list of documents that the new one lacks, in order.
    public let removed: [Int]
    /// The places in the new list of documents that the old one lacks, in order.
    public let inserted: [Int]
    /// The moves, as few as possible, in the order of the new list.
    public let moved: [Move]
    /// The places in the new list of documents whose content differs, moved ones too, in order.
    public let changed: [Int]

    /// Creates a difference, for tests and previews.
    public init(
        removed: [Int] = [], inserted: [Int] = [], moved: [Move] = [], changed: [Int] = []
    ) {
        self.removed = removed
        self.inserted = inserted
        self.moved = moved
        self.changed = changed
    }

    /// Whether the two lists are equal.
    public var isEmpty: Bool {
        removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty
    }

    /// Changes a list, for example of view models, from the old documents to the new ones; O(n).
    ///
    /// - Precondition: the list has an element for each old document.
    /// - Parameters:
    ///   - list: the list to change.
    ///   - make: returns the element for an inserted or a changed document at a place in the new
    ///     list; the other elements are kept.
    /// - Throws: the closure's error, which leaves the list unchanged.
    public func apply<Element, Failure: Error>(
        to list: inout [Element], _ make: (_ index: Int) throws(Failure) -> Element
    ) throws(Failure) {
        var isMade = [Bool](repeating: false, count: list.count - removed.count + inserted.count)
        for index in inserted { isMade[index] = true }
        for index in changed { isMade[index] = true }
        var new: [Element] = []
        new.reserveCapacity(isMade.count)
        for (index, origin) in origins(in: list.count).enumerated() {
            if let origin, !isMade[index] {
                new.append(list[origin])
            } else {
                new.append(try make(index))
            }
        }
        list = new
    }

    /// Returns for each place in the new list the place in the old one; `nil` for inserted
    /// documents.
    private func origins(in count: Int) -> [Int?] {
        var leaves = [Bool](repeating: false, count: count)
        var isTaken = [Bool](repeating: false, count: count - removed.count + inserted.count)
        var origins = [Int?](repeating: nil, count: isTaken.count)
        for index in removed { leaves[index] = true }
        for index in inserted { isTaken[index] = true }
        for move in moved {
            leaves[move.from] = true
            isTaken[move.to] = true
            origins[move.to] = move.from
        }
        var place = 0
        for index in 0..<count where !leaves[index] {
            while isTaken[place] { place += 1 }
            origins[place] = index
            place += 1
        }
        return origins
    }
}

// MARK: - Comparing

extension ListChanges {
    /// Compares two lists by the ids of their elements; O(n log n), O(n) if few of them move.
    ///
    /// - Precondition: neither list has an id twice.
    /// - Parameter isChanged: whether the element at a place in the old list and the one with the
    ///   same id at a place in the new list differ.
    package init<ID: Hashable>(
        from old: [ID], to new: [ID], _ isChanged: (_ old: Int, _ new: Int) -> Bool
    ) {
        // Most changes concern one place, so the equal ends need no dictionary.
        let shortest = min(old.count, new.count)
        let start = (0..<shortest).first { old[$0] != new[$0] } ?? shortest
        let rest = shortest - start
        let end = (0..<rest).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? rest

        var places: [ID: Int] = [:]
        for index in start..<(old.count - end) { places[old[index]] = index }
        var inserted: [Int] = []
        var kept: [Move] = []
        for index in start..<(new.count - end) {
            if let place = places.removeValue(forKey: new[index]) {
                kept.append(Move(from: place, to: index))
            } else {
                inserted.append(index)
            }
        }
        let staying = Self.longestRise(kept.map(\.from))
        let changed = kept.filter { isChanged($0.from, $0.to) }.map(\.to)
        let shift = new.count - old.count
        self.init(
            removed: places.values.sorted(), inserted: inserted,
            moved: zip(kept, staying).filter { !$1 }.map(\.0),
            changed: (0..<start).filter { isChanged($0, $0) } + changed
                + ((new.count - end)..<new.count).filter { isChanged($0 - shift, $0) })
    }

    /// Returns for each number whether it belongs to a longest rising part of the list.
    private static func longestRise(_ numbers: [Int]) -> [Bool] {
        // The place of the least number that ends a rise of each length, and the place before each.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let length = firstEnd(ends, numbers, notBelow: number)
            before[index] = length > 0 ? ends[length - 1] : nil
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var isIn = [Bool](repeating: false, count: numbers.count)
        var next = ends.last
        while let index = next {
            isIn[index] = true
            next = before[index]
        }
        return isIn
    }

    /// Returns how many rises end below a number.
    private static func firstEnd(_ ends: [Int], _ numbers: [Int], notBelow number: Int) -> Int {
        if let last = ends.last, numbers[last] < number { return ends.count }
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
