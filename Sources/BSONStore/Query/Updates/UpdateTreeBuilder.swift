/// A tree of operators that is being built; a branch is found by its name at the same cost among
/// many as among few.
final class UpdateTreeBuilder {
    private enum Child {
        /// Operations that are complete: no other path leads through them.
        case node(UpdateNode)
        case tree(UpdateTreeBuilder)

        var node: UpdateNode {
            switch self {
            case .node(let node): node
            case .tree(let tree): tree.node
            }
        }
    }

    /// Whether the branches are elements of an array that filters select, not fields.
    private let isArray: Bool
    private var branches: [(name: String, child: Child)] = []
    /// The places of the branches by name, where they are more than a search in the list is worth.
    private var places: [Name: Int] = [:]
    private static let listedMax = 8
    /// The operations below `$`.
    private var matched: Child?

    /// Begins with no fields.
    init(isArray: Bool = false) { self.isArray = isArray }

    /// Begins with the branches of a node.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) for an operation, which merges with nothing.
    init(merging node: UpdateNode, _ path: [String]) throws(StoreError) {
        if case .elements = node { isArray = true } else { isArray = false }
        try merge(node, path)
    }

    /// Adds an operation at a path.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) if another operator changes a part of the path
    ///   or a place below it, `badValue` for a `$[name]` without a filter.
    func insert(
        _ operation: UpdateOperation, at path: UpdatePath, _ filters: inout ArrayFilters
    ) throws(StoreError) {
        guard UpdatePath.filterName(path.parts[0]) == nil else {
            throw StoreError(
                .badValue,
                "Cannot have array filter identifier (i.e. '$[<id>]') element in the first "
                    + "position in path '\(path)'")
        }
        var tree = self
        for at in path.parts.indices.dropLast() {
            let name = try filters.name(of: path.parts[at], in: path)
            let isArray = UpdatePath.filterName(path.parts[at + 1]) != nil
            switch tree.child(name) {
            case nil:
                let inner = UpdateTreeBuilder(isArray: isArray)
                tree.add(.tree(inner), name)
                tree = inner
            case .tree(let inner) where inner.isArray == isArray: tree = inner
            case .tree, .node: throw Self.conflict(path, at + 1)
            }
        }
        let last = path.parts.count - 1
        let name = try filters.name(of: path.parts[last], in: path)
        guard tree.child(name) == nil else { throw Self.conflict(path, last + 1) }
        tree.add(.node(.leaf(operation, depth: operation.depth)), name)
    }

    private static func conflict(_ path: UpdatePath, _ count: Int) -> StoreError {
        StoreError(
            .conflictingUpdateOperators,
            "Updating the path '\(path)' would create a conflict at '\(path.prefix(count))'")
    }

    /// Adds the branches of a node.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) if both change the same field, or one of them
    ///   the whole.
    func merge(_ node: UpdateNode, _ path: [String]) throws(StoreError) {
        switch node {
        case .fields(let fields) where !isArray:
            for branch in fields.named { try merge(branch, path) }
            if let matched = fields.matched {
                try merge(UpdateBranch(name: "$", node: matched), path)
            }
        case .elements(let branches) where isArray:
            for branch in branches { try merge(branch, path) }
        case .leaf, .fields, .elements:
            throw StoreError(
                .conflictingUpdateOperators,
                "Update created a conflict at '\(path.joined(separator: "."))'")
        }
    }

    private func merge(_ branch: UpdateBranch, _ path: [String]) throws(StoreError) {
        try WorkBudget.spend()
        let inner = path + [branch.name]
        switch child(branch.name) {
        case nil: add(.node(branch.node), branch.name)
        case .tree(let tree): try tree.merge(branch.node, inner)
        case .node(let known):
            let tree = try UpdateTreeBuilder(merging: known, inner)
            try tree.merge(branch.node, inner)
            replace(branch.name, by: .tree(tree))
        }
    }

    private func child(_ name: String) -> Child? {
        name == "$" && !isArray ? matched : place(of: name).map { branches[$0].child }
    }

    private func place(of name: String) -> Int? {
        guard branches.count <= Self.listedMax else { return places[name] }
        return branches.firstIndex { $0.name.hasSameBytes(as: name) }
    }

    private func add(_ child: Child, _ name: String) {
        if name == "$", !isArray {
            matched = child
        } else {
            branches.append((name, child))
            if branches.count > Self.listedMax {
                for place in places.count..<branches.count { places[branches[place].name] = place }
            }
        }
    }

    private func replace(_ name: String, by child: Child) {
        if name == "$", !isArray {
            matched = child
        } else if let place = place(of: name) {
            branches[place].child = child
        }
    }

    /// The fields in the order in which they are changed; the caller checks the budget.
    var fields: UpdateFields { UpdateFields(named: named, matched: matched?.node) }

    /// The tree as it is now.
    var node: UpdateNode { isArray ? .elements(named) : .fields(fields) }

    private var named: [UpdateBranch] {
        if branches.count == 1 {
            return [UpdateBranch(name: branches[0].name, node: branches[0].child.node)]
        }
        return branches.sorted {
            WorkBudget.isOver() ? false : UpdatePath.isBefore($0.name, $1.name)
        }
        .map { UpdateBranch(name: $0.name, node: $0.child.node) }
    }
}
