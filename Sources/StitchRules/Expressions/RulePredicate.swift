internal import BSONStore

/// A condition with a user's values, which only lacks documents.
indirect enum RulePredicate: Sendable, Hashable {
    case constant(Bool)
    /// A filter on the document to read, or on the document after a write.
    case root(BSONDocument)
    /// A filter on the document before a write.
    case previous(BSONDocument)
    /// A comparison of a field after a write with one before it.
    case across(RuleComparison, root: Name, previous: Name)
    /// Whether a document existed before the write.
    case wasThere(Bool)
    case all([RulePredicate])
    case any([RulePredicate])
    case not(RulePredicate)

    /// Returns the conjunction, simplified.
    static func && (left: RulePredicate, right: RulePredicate) -> RulePredicate {
        all(of: [left, right])
    }

    /// Returns the disjunction, simplified.
    static func || (left: RulePredicate, right: RulePredicate) -> RulePredicate {
        any(of: [left, right])
    }

    /// Returns the conjunction of all conditions, without those that always hold.
    static func all(of parts: [RulePredicate]) -> RulePredicate {
        if parts.contains(.constant(false)) { return .constant(false) }
        let left = parts.filter { $0 != .constant(true) }
        return left.isEmpty ? .constant(true) : left.count == 1 ? left[0] : .all(left)
    }

    /// Returns the disjunction of all conditions, without those that never hold.
    static func any(of parts: [RulePredicate]) -> RulePredicate {
        if parts.contains(.constant(true)) { return .constant(true) }
        var left: [RulePredicate] = []
        var known: Set<RulePredicate> = []
        for part in parts where part != .constant(false) && known.insert(part).inserted {
            left.append(part)
        }
        return left.isEmpty ? .constant(false) : left.count == 1 ? left[0] : .any(left)
    }

    /// Returns the negation, simplified.
    static func not(of part: RulePredicate) -> RulePredicate {
        switch part {
        case .constant(let flag): .constant(!flag)
        case .not(let inner): inner
        case .root, .previous, .across, .wasThere, .all, .any: .not(part)
        }
    }

    /// The condition as a filter on one document; `nil` when it compares two.
    var filter: BSONDocument? {
        switch self {
        case .constant(true): return [:]
        case .constant(false): return ["$nor": [[:]]]
        case .root(let filter): return filter
        case .previous, .across, .wasThere: return nil
        case .all(let parts): return Self.joined("$and", parts)
        case .any(let parts): return Self.joined("$or", parts)
        case .not(let inner): return Self.joined("$nor", [inner])
        }
    }

    private static func joined(_ operation: String, _ parts: [RulePredicate]) -> BSONDocument? {
        var filters: [BSONValue] = []
        for part in parts {
            guard let filter = part.filter else { return nil }
            filters.append(.document(filter))
        }
        return [operation: .array(BSONArray(filters))]
    }
}

/// A condition that is ready to be evaluated on documents.
indirect enum CompiledPredicate: Sendable {
    case constant(Bool)
    case root(Filter)
    case previous(Filter)
    case across(RuleComparison, root: Name, previous: Name)
    case wasThere(Bool)
    case all([CompiledPredicate])
    case any([CompiledPredicate])
    case not(CompiledPredicate)

    /// Compiles a condition; one that MongoDB's filters cannot express never holds.
    init(_ predicate: RulePredicate) {
        do {
            self = try Self.compile(predicate)
        } catch {
            self = .constant(false)
        }
    }

    private static func compile(
        _ predicate: RulePredicate
    ) throws(StoreError) -> CompiledPredicate {
        if case .constant(let flag) = predicate { return .constant(flag) }
        if let filter = predicate.filter { return .root(try Filter(filter)) }
        switch predicate {
        case .constant(let flag): return .constant(flag)
        case .root(let filter): return .root(try Filter(filter))
        case .previous(let filter): return .previous(try Filter(filter))
        case .across(let comparison, let root, let previous):
            return .across(comparison, root: root, previous: previous)
        case .wasThere(let flag): return .wasThere(flag)
        case .all(let parts): return .all(try compile(parts))
        case .any(let parts): return .any(try compile(parts))
        case .not(let inner): return .not(try compile(inner))
        }
    }

    private static func compile(
        _ parts: [RulePredicate]
    ) throws(StoreError) -> [CompiledPredicate] {
        var compiled: [CompiledPredicate] = []
        for part in parts { compiled.append(try compile(part)) }
        return compiled
    }

    /// Whether the condition holds; a missing document matches no filter.
    func holds(root: BSONDocument?, previous: BSONDocument?) -> Bool {
        switch self {
        case .constant(let flag): flag
        case .root(let filter): root.map { filter.matches($0) } ?? false
        case .previous(let filter): previous.map { filter.matches($0) } ?? false
        case .across(let comparison, let left, let right):
            comparison.holds(root?[path: left.text], previous?[path: right.text])
        case .wasThere(let flag): (previous != nil) == flag
        case .all(let parts): parts.allSatisfy { $0.holds(root: root, previous: previous) }
        case .any(let parts): parts.contains { $0.holds(root: root, previous: previous) }
        case .not(let inner): !inner.holds(root: root, previous: previous)
        }
    }
}

extension RuleComparison {
    /// Whether a comparison in MongoDB's order holds; a missing value only equals a missing one.
    func holds(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
        guard let left, let right else {
            let isEqual = left == nil && right == nil
            switch self {
            case .equal: return isEqual
            case .notEqual: return !isEqual
            case .greater, .greaterOrEqual, .less, .lessOrEqual: return false
            }
        }
        let order = BSONOrder.compare(left, right)
        switch self {
        case .equal: return order == .equal
        case .notEqual: return order != .equal
        case .greater: return order == .greater
        case .greaterOrEqual: return order != .less
        case .less: return order == .less
        case .lessOrEqual: return order != .greater
        }
    }
}
