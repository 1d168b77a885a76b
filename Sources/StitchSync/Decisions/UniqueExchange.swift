internal import BSONStore

/// A change that a unique index of the remote refused, as far as it matters for an exchange of
/// values between documents.
struct RefusedChange {
    /// The paths of the index that refused it; empty where the remote did not name them.
    var paths: [String]
    /// The edition that the remote confirmed.
    var base: BSONDocument?
    /// The edition that was sent.
    var intended: BSONDocument?
    /// Whether another client changed the document first, so that a later pass decides about it.
    var isOvertaken = false
}

/// The treatment of changes that a unique index refused; by their indexes.
struct UniqueExchange: Equatable {
    /// The groups that can only be applied together, since each wants a value that another one of
    /// them gives up.
    var groups: [[Int]] = []
    /// Those that want a value of a change that was overtaken: a later pass sends them again.
    ///
    /// The value of a change that is neither here nor in a group stays taken.
    var waiting: [Int] = []

    /// Decides by the values that the changes want and give up.
    ///
    /// - Parameter byBytes: whether texts are the same only where their bytes are. Otherwise a change
    ///   may want a text that the index's unknown collation takes for the same as another one.
    static func decide(_ changes: [RefusedChange], byBytes: Bool = false) -> Self {
        let blockers = Blockers(changes, byBytes: byBytes)
        let overtaken = Set(changes.indices.filter { changes[$0].isOvertaken })
        let refused = Set(changes.indices).subtracting(overtaken)
        let members = closed(refused, blockers: blockers.named)
        let held = closed(refused, and: overtaken, blockers: blockers.named)
        return Self(
            groups: components(of: members, blockers.all),
            waiting: held.subtracting(members).sorted())
    }

    /// Returns all changes in an order in which each comes after those that give up what it wants.
    ///
    /// Sent in this order, a chain of any length is applied at once. Where the changes want each
    /// other's values there is no such order, and ``decide(_:byBytes:)`` makes groups.
    static func order(_ changes: [RefusedChange]) -> [Int] {
        let blockers = Blockers(changes, byBytes: false).all
        var order: [Int] = []
        var seen: Set<Int> = []
        // What no blocker is known of goes in reverse: a list is mostly renumbered from its end.
        for first in changes.indices.reversed() where seen.insert(first).inserted {
            var path = [(change: first, open: blockers[first].sorted())]
            while let last = path.last {
                if let next = last.open.last {
                    path[path.count - 1].open.removeLast()
                    if seen.insert(next).inserted {
                        path.append((next, blockers[next].sorted()))
                    }
                } else {
                    order.append(last.change)
                    path.removeLast()
                }
            }
        }
        return order
    }

    /// For each change, those that hold a value that it wants.
    private struct Blockers {
        /// By all indexes that refused one of the changes.
        var all: [Set<Int>]
        /// By the index that refused the change itself.
        var named: [Set<Int>]

        init(_ changes: [RefusedChange], byBytes: Bool) {
            let patterns = Set(changes.map(\.paths)).subtracting([[]]).sorted {
                $0.lexicographicallyPrecedes($1)
            }
            all = [Set<Int>](repeating: [], count: changes.count)
            named = all
            for paths in patterns {
                let unfound = add(changes, changes.indices, paths, nil)
                // Nobody has these bytes, but the index refused them: its collation may take other texts
                // for the same.
                guard !byBytes, !unfound.isEmpty else { continue }
                _ = add(changes, unfound, paths, .loosest)
            }
        }

        /// Adds those that hold what some changes want.
        ///
        /// - Returns: the changes that the index itself refused, and that want a value which none holds.
        private mutating func add(
            _ changes: [RefusedChange], _ wanting: some Sequence<Int>, _ paths: [String],
            _ collation: Collation?
        ) -> [Int] {
            func keys(of document: BSONDocument?) -> [[UInt8]] {
                document?.indexKeys(paths, collation) ?? []
            }
            var holders: [[UInt8]: [Int]] = [:]
            let kept = changes.map { keys(of: $0.base) }
            for index in changes.indices {
                for key in kept[index] { holders[key, default: []].append(index) }
            }
            var unfound: [Int] = []
            for index in wanting {
                let isNamed = changes[index].paths.hasSameBytes(as: paths)
                let own = Set(kept[index])
                var isUnfound = false
                for key in keys(of: changes[index].intended) where !own.contains(key) {
                    let found = (holders[key] ?? []).filter { $0 != index }
                    if found.isEmpty { isUnfound = true }
                    all[index].formUnion(found)
                    if isNamed { named[index].formUnion(found) }
                }
                if isUnfound, isNamed { unfound.append(index) }
            }
            return unfound
        }
    }

    /// Returns the changes whose value is given up by another one of them, or by further ones.
    private static func closed(
        _ changes: Set<Int>, and others: Set<Int> = [], blockers: [Set<Int>]
    ) -> Set<Int> {
        let there = changes.union(others)
        var counts = blockers.map { $0.count(where: there.contains) }
        var waiting = [[Int]](repeating: [], count: blockers.count)
        for change in changes {
            for blocker in blockers[change] { waiting[blocker].append(change) }
        }
        var members = changes
        var alone = changes.filter { counts[$0] == 0 }
        while let next = alone.popFirst() {
            members.remove(next)
            for change in waiting[next] where members.contains(change) && !others.contains(next) {
                counts[change] -= 1
                if counts[change] == 0 { alone.insert(change) }
            }
        }
        return members
    }

    /// Returns the connected parts of the members.
    private static func components(of members: Set<Int>, _ blockers: [Set<Int>]) -> [[Int]] {
        var neighbors = [Set<Int>](repeating: [], count: blockers.count)
        for member in members {
            for other in blockers[member] where members.contains(other) {
                neighbors[member].insert(other)
                neighbors[other].insert(member)
            }
        }
        var seen: Set<Int> = []
        var groups: [[Int]] = []
        for member in members.sorted() where seen.insert(member).inserted {
            var group = [member]
            var open = [member]
            while let next = open.popLast() {
                for other in neighbors[next].sorted() where seen.insert(other).inserted {
                    group.append(other)
                    open.append(other)
                }
            }
            groups.append(group.sorted())
        }
        return groups
    }
}
