/// The operators of an update as a tree over the paths that they change.
///
/// Source: the server's `UpdateObjectNode` and `UpdateArrayNode`, with the same order and
/// conflicts.
indirect enum UpdateNode: Sendable {
    /// The operation at the end of a path.
    case leaf(UpdateOperation, depth: Int)
    /// Fields of a document, or positions of an array, in the order in which they are changed.
    case fields(UpdateFields)
    /// Elements of an array by the name of the filter that selects them, empty for all of them.
    case elements([UpdateBranch])
}

/// A part of a path with the operations below it.
struct UpdateBranch: Sendable {
    let name: String
    var node: UpdateNode
}

/// The operations on the fields of one document.
struct UpdateFields: Sendable {
    /// The operations by name, in order.
    var named: [UpdateBranch] = []
    /// The operations below `$`.
    var matched: UpdateNode?

    /// Adds an operation at a path.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) if another operator changes a part of the path
    ///   or a place below it, `badValue` for a `$[name]` without a filter.
    mutating func insert(
        _ operation: UpdateOperation, at path: UpdatePath, _ filters: inout ArrayFilters
    ) throws(StoreError) {
        guard UpdatePath.filterName(path.parts[0]) == nil else {
            throw StoreError(
                .badValue,
                "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position "
                    + "in path '\(path)'")
        }
        var root = UpdateNode.fields(self)
        try root.insert(operation, path, 0, &filters)
        if case .fields(let fields) = root { self = fields }
    }

    /// Returns the branches in order, with `$` replaced by its position.
    ///
    /// - Throws: `badValue` if there is a `$` and no position, `conflictingUpdateOperators` (40) if
    ///   the position is also changed by its number.
    func resolved(
        _ position: () -> Int?, _ path: [String]
    ) throws(StoreError) -> [UpdateBranch] {
        guard let matched else { return named }
        guard let position = position() else {
            throw StoreError(
                .badValue,
                "The positional operator did not find the match needed from the query.")
        }
        return try UpdateNode.merging(
            named, [UpdateBranch(name: String(position), node: matched)], path)
    }
}

extension UpdateNode {
    fileprivate mutating func insert(
        _ operation: UpdateOperation, _ path: UpdatePath, _ at: Int, _ filters: inout ArrayFilters
    ) throws(StoreError) {
        let name = try filters.name(of: path.parts[at], in: path)
        let isLast = at == path.parts.count - 1
        var child = self[name]
        if isLast {
            guard child == nil else { throw Self.conflict(path, at + 1) }
            child = .leaf(operation, depth: operation.depth)
        } else {
            let isArray = UpdatePath.filterName(path.parts[at + 1]) != nil
            var inner = child ?? (isArray ? .elements([]) : .fields(UpdateFields()))
            guard inner.isContainer(isArray: isArray) else { throw Self.conflict(path, at + 1) }
            // The old node is released first, so that the insertion finds it unshared.
            self[name] = nil
            try inner.insert(operation, path, at + 1, &filters)
            child = inner
        }
        self[name] = child
    }

    private static func conflict(_ path: UpdatePath, _ count: Int) -> StoreError {
        StoreError(
            .conflictingUpdateOperators,
            "Updating the path '\(path)' would create a conflict at '\(path.prefix(count))'")
    }

    private func isContainer(isArray: Bool) -> Bool {
        switch self {
        case .leaf: false
        case .fields: !isArray
        case .elements: isArray
        }
    }

    /// The node of a branch; setting keeps the order.
    private subscript(name: String) -> UpdateNode? {
        get {
            switch self {
            case .leaf: nil
            case .fields(let fields):
                name == "$" ? fields.matched : fields.named.first { $0.name == name }?.node
            case .elements(let branches): branches.first { $0.name == name }?.node
            }
        }
        set {
            switch self {
            case .leaf: return
            case .fields(var fields):
                if name == "$" {
                    fields.matched = newValue
                } else {
                    Self.set(name, to: newValue, in: &fields.named)
                }
                self = .fields(fields)
            case .elements(var branches):
                Self.set(name, to: newValue, in: &branches)
                self = .elements(branches)
            }
        }
    }

    private static func set(
        _ name: String, to node: UpdateNode?, in branches: inout [UpdateBranch]
    ) {
        branches.removeAll { $0.name == name }
        guard let node else { return }
        let at = branches.firstIndex { UpdatePath.isBefore(name, $0.name) } ?? branches.count
        branches.insert(UpdateBranch(name: name, node: node), at: at)
    }

    /// Merges the operations of several placeholders on the same element.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) if both change the same field.
    static func merging(
        _ left: UpdateNode, _ right: UpdateNode, _ path: [String]
    ) throws(StoreError) -> UpdateNode {
        switch (left, right) {
        case (.fields(let a), .fields(let b)):
            var joined = UpdateFields(named: try merging(a.named, b.named, path))
            switch (a.matched, b.matched) {
            case (let x?, let y?): joined.matched = try merging(x, y, path + ["$"])
            case (let x, let y): joined.matched = x ?? y
            }
            return .fields(joined)
        case (.elements(let a), .elements(let b)): return .elements(try merging(a, b, path))
        case (.leaf, _), (.fields, _), (.elements, _):
            throw StoreError(
                .conflictingUpdateOperators,
                "Update created a conflict at '\(path.joined(separator: "."))'")
        }
    }

    static func merging(
        _ left: [UpdateBranch], _ right: [UpdateBranch], _ path: [String]
    ) throws(StoreError) -> [UpdateBranch] {
        var joined = left
        for branch in right {
            if let at = joined.firstIndex(where: { $0.name == branch.name }) {
                joined[at].node = try merging(
                    joined[at].node, branch.node, path + [branch.name])
            } else {
                set(branch.name, to: branch.node, in: &joined)
            }
        }
        return joined
    }
}
