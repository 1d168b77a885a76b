/// Waiting elements of several owners, which take turns.
///
/// Each owner's elements stay in the order of arrival. An owner with many elements delays the
/// first element of another owner by one of its own only.
package struct FairQueue<Owner: Hashable & Sendable, Element: Sendable>: Sendable {
    /// The elements of one owner, from `start` on.
    private struct Line: Sendable {
        var elements: [Element?]
        var start = 0

        var first: Element? { start < elements.count ? elements[start] : nil }

        mutating func popFirst() -> Element? {
            guard let first else { return nil }
            elements[start] = nil
            start += 1
            // Amortized: each move is paid for by as many removals.
            if start * 2 >= elements.count {
                elements.removeFirst(start)
                start = 0
            }
            return first
        }
    }

    /// An owner's place among those who wait for a turn.
    private struct Turn: Sendable {
        let owner: Owner
        let since: UInt64
    }

    private var lines: [Owner: Line] = [:]
    /// The owners with elements, from `turnsStart` on; who has waited longest for a turn is first.
    private var turns: [Turn?] = []
    private var turnsStart = 0

    /// The time from which on the next owner waits for a turn; it grows with each.
    ///
    /// Queues whose owners take turns together are given one time.
    package var clock: UInt64 = 0

    /// The number of elements.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Whether the queue has no elements.
    package var isEmpty: Bool { count == 0 }

    /// The number of elements of an owner.
    package func count(of owner: Owner) -> Int {
        lines[owner].map { $0.elements.count - $0.start } ?? 0
    }

    /// Adds an element behind those of its owner.
    package mutating func append(_ element: Element, of owner: Owner) {
        count += 1
        if lines[owner]?.elements.append(element) == nil {
            lines[owner] = Line(elements: [element])
            wait(owner)
        }
    }

    private mutating func wait(_ owner: Owner) {
        clock += 1
        turns.append(Turn(owner: owner, since: clock))
    }

    /// Returns the next element of the owner who has waited longest for a turn, among the eligible
    /// owners.
    ///
    /// The cost grows with the number of owners before it that are not eligible.
    package func first(
        where isEligible: (Owner) -> Bool = { _ in true }
    ) -> (owner: Owner, element: Element, waitsSince: UInt64)? {
        guard let index = index(where: isEligible), let turn = turns[index],
            let element = lines[turn.owner]?.first
        else { return nil }
        return (turn.owner, element, turn.since)
    }

    /// Removes the element that ``first(where:)`` returns.
    package mutating func popFirst(
        where isEligible: (Owner) -> Bool = { _ in true }
    ) -> (owner: Owner, element: Element)? {
        guard let index = index(where: isEligible), let owner = turns[index]?.owner,
            let element = lines[owner]?.popFirst()
        else { return nil }
        count -= 1
        takeTurn(at: index)
        if lines[owner]?.first == nil { lines[owner] = nil } else { wait(owner) }
        return (owner, element)
    }

    private func index(where isEligible: (Owner) -> Bool) -> Int? {
        turns[turnsStart...].firstIndex { $0.map { isEligible($0.owner) } ?? false }
    }

    /// Removes an owner's turn; the earlier ones move up.
    private mutating func takeTurn(at index: Int) {
        for place in stride(from: index, to: turnsStart, by: -1) { turns[place] = turns[place - 1] }
        turns[turnsStart] = nil
        turnsStart += 1
        if turnsStart * 2 >= turns.count {
            turns.removeFirst(turnsStart)
            turnsStart = 0
        }
    }
}
