internal import BSONStore

extension RuleAccess {
    /// Makes the access of a user without a usable role, which denies everything.
    init(_ namespace: Namespace, denied problem: DenialCause, role: Name? = nil) {
        var essence = CompiledRoleKey()
        essence.role = role
        essence.problem = problem
        essence.mask = .nothing
        self.init(namespace, essence)
    }

    /// Compiles a role with a user's values.
    init(_ namespace: Namespace, _ role: RuleRole, _ binding: RuleExpressionBinding) {
        var essence = CompiledRoleKey()
        essence.role = role.name
        essence.hasFilters = role.filters != nil
        essence.readFilter = binding.bind(role.filters?.read)
        essence.writeFilter = binding.bind(role.filters?.write)
        essence.read = binding.bind(role.read)
        essence.write = binding.bind(role.write)
        essence.insert = binding.bind(role.insert)
        essence.delete = binding.bind(role.delete)
        essence.search = binding.bind(role.search)
        essence.mask = Self.mask(role, essence, binding)
        self.init(namespace, essence)
    }

    private init(_ namespace: Namespace, _ essence: CompiledRoleKey) {
        self.namespace = namespace
        self.essence = essence
        role = essence.role?.text
        problem = essence.problem
        visibility = Self.visibility(essence)
        mask = essence.mask
        allowsSearch = essence.search ?? .constant(true) == .constant(true)
        hasFilters = essence.hasFilters
        writeFilter = essence.writeFilter.map(CompiledPredicate.init)
        read = essence.read.map(CompiledPredicate.init)
        write = essence.write.map(CompiledPredicate.init)
        insert = essence.insert.map(CompiledPredicate.init)
        delete = essence.delete.map(CompiledPredicate.init)
    }

    /// Returns the field permissions, which count only if neither `read` nor `write` decides for
    /// all documents.
    private static func mask(
        _ role: RuleRole, _ essence: CompiledRoleKey, _ binding: RuleExpressionBinding
    ) -> FieldMask {
        let writes: FieldNode =
            role.fields?.node { binding.bind($0) == .constant(true) } ?? .leaf(.none)
        if essence.read != nil {
            // The document is readable as a whole or not at all; write access may still be limited
            // to fields.
            return FieldMask(writes.readable)
        }
        return FieldMask(essence.write == .constant(true) ? .leaf(.readAndWrite) : writes)
    }

    /// Returns the visible documents: the decision of ``ReadDecision``, expressed as conditions.
    private static func visibility(_ essence: CompiledRoleKey) -> Visibility {
        guard essence.problem == nil else { return .never }
        let never = RulePredicate.constant(false)
        let passes: RulePredicate =
            essence.hasFilters
            ? (essence.readFilter ?? never) || (essence.writeFilter ?? never) : .constant(true)
        let top: RulePredicate =
            essence.read.map { $0 || (essence.write ?? never) } ?? .constant(true)
        switch passes && top {
        case .constant(true): return .always
        case .constant(false): return .never
        case .root, .previous, .across, .wasThere, .all, .any, .not: break
        }
        // A read has no document before, so conditions on it apply to the document itself.
        let condition = (passes && top).reading
        guard let filter = condition.filter else { return .never }
        do {
            return .filter(try Filter(filter))
        } catch {
            return .never
        }
    }
}

extension RulePredicate {
    /// The condition for reads, where the document before equals the document.
    fileprivate var reading: RulePredicate {
        switch self {
        case .constant, .root: self
        case .previous(let filter): .root(filter)
        case .wasThere(let flag): .constant(flag)
        case .across(let comparison, let root, let previous):
            .root([
                "$expr": [comparison.rawValue: [.string("$\(root)"), .string("$\(previous)")]]
            ])
        case .all(let parts): .all(of: parts.map(\.reading))
        case .any(let parts): .any(of: parts.map(\.reading))
        case .not(let inner): .not(of: inner.reading)
        }
    }
}

extension FieldNode {
    /// The same write permissions, with every field readable.
    fileprivate var readable: FieldNode {
        switch self {
        case .leaf(let permission): .leaf(permission.writes ? .readAndWrite : .read)
        case .branch(let children, let others):
            .branch(
                children.mapValues(\.readable), others: others.writes ? .readAndWrite : .read)
        }
    }
}
