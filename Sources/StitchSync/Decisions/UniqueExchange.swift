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
    static func decide(_ changes: [RefusedChange]) -> Self {
        let patterns = Set(changes.map(\.paths)).subtracting([[]]).sorted {
            $0.lexicographicallyPrecedes($1)
        }
        var blockers = [Set<Int>](repeating: [], count: changes.count)
        var namedBlockers = blockers
        for paths in patterns {
            var holders: [[UInt8]: [Int]] = [:]
            for (index, change) in changes.enumerated() {
                for key in keys(of: change.base, paths) { holders[key, default: []].append(index) }
            }
            for (index, change) in changes.enumerated() {
                let kept = Set(keys(of: change.base, paths))
                for key in keys(of: change.intended, paths) where !kept.contains(key) {
                    let found = (holders[key] ?? []).filter { $0 != index }
                    blockers[index].formUnion(found)
                    if change.paths.hasSameBytes(as: paths) {
                        namedBlockers[index].formUnion(found)
                    }
                }
            }
        }
        let overtaken = Set(changes.indices.filter { changes[$0].isOvertaken })
        let refused = Set(changes.indices).subtracting(overtaken)
        let members = closed(refused, blockers: namedBlockers)
        let held = closed(refused, and: overtaken, blockers: namedBlockers)
        return Self(
            groups: components(of: members, blockers), waiting: held.subtracting(members).sorted())
    }

    /// Returns the changes whose value is given up by another one of them, or by further ones.
    private static func closed(
        _ changes: Set<Int>, and others: Set<Int> = [], blockers: [Set<Int>]
    ) -> Set<Int> {
        var members = changes
        while true {
            let left = members.filter {
                !blockers[$0].isDisjoint(with: members) || !blockers[$0].isDisjoint(with: others)
            }
            if left.count == members.count { return members }
            members = left
        }
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

    /// Returns a key for each combination of values at the paths; an array gives one for each
    /// element, as in an index.
    private static func keys(of document: BSONDocument?, _ paths: [String]) -> [[UInt8]] {
        guard let document else { return [] }
        var keys: [[UInt8]] = [[]]
        for path in paths {
            let value = document[path: path] ?? .null
            let values = value.arrayValue.map { $0.isEmpty ? [.undefined] : Array($0) } ?? [value]
            let encoded = Set(values.map { BSONKey.encode($0) })
            keys = keys.flatMap { key in encoded.map { key + $0 } }
        }
        return keys
    }
}
