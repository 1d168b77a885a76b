package import BSONStore

extension RuleAccessPolicy {
    /// Returns a fingerprint of all collections: those with roles of their own, and one more.
    package func fingerprintOfAll(_ namespace: Namespace) -> UInt64 {
        var hash = StableHash()
        for name in namespaces + [namespace] {
            hash.add(name.description)
            hash.add(fingerprint(name))
        }
        return hash.value
    }
}

extension RuleAccess {
    /// A number that is equal, in every process, for equal permissions; O(n) in the rules.
    var fingerprint: UInt64 {
        var hash = StableHash()
        essence.feed(&hash)
        return hash.value
    }
}

/// A hash function with equal results in every process, unlike `Hasher` (FNV-1a).
struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        add(text.utf8)
    }

    mutating func add(_ number: UInt64) {
        add((0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    mutating func add(_ flag: Bool?) { add([flag == nil ? 2 : flag == true ? 1 : 0]) }
}

extension CompiledRoleKey {
    fileprivate func feed(_ hash: inout StableHash) {
        hash.add(role?.text ?? "")
        hash.add(problem?.name ?? "")
        hash.add(hasFilters)
        for predicate in [readFilter, writeFilter, read, write, insert, delete, search] {
            hash.add(predicate == nil)
            predicate?.feed(&hash)
        }
        mask.root.feed(&hash)
    }
}

extension RulePredicate {
    fileprivate func feed(_ hash: inout StableHash) {
        switch self {
        case .constant(let flag): hash.add(flag)
        case .root(let filter):
            hash.add("root")
            hash.add(filter.bytes)
        case .previous(let filter):
            hash.add("previous")
            hash.add(filter.bytes)
        case .across(let comparison, let root, let previous):
            for text in ["across", comparison.rawValue, root.text, previous.text] { hash.add(text) }
        case .wasThere(let flag):
            hash.add("wasThere")
            hash.add(flag)
        case .all(let parts): Self.feed("all", parts, &hash)
        case .any(let parts): Self.feed("any", parts, &hash)
        case .not(let inner): Self.feed("not", [inner], &hash)
        }
    }

    private static func feed(_ name: String, _ parts: [RulePredicate], _ hash: inout StableHash) {
        hash.add(name)
        hash.add(UInt64(parts.count))
        for part in parts { part.feed(&hash) }
    }
}

extension FieldNode {
    fileprivate func feed(_ hash: inout StableHash) {
        hash.add(others.reads)
        hash.add(others.writes)
        hash.add(UInt64(children.count))
        for (name, child) in children.sorted(by: { $0.key < $1.key }) {
            hash.add(name.text)
            child.feed(&hash)
        }
    }
}
