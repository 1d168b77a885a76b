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

    /// Merges the operations of several placeholders on the same element.
    ///
    /// - Throws: `conflictingUpdateOperators` (40) if two change the same field.
    static func merging(
        _ nodes: [UpdateNode], _ path: [String]
    ) throws(StoreError) -> UpdateNode {
        guard let first = nodes.first else { return .fields(UpdateFields()) }
        guard nodes.count > 1 else { return first }
        let builder = try UpdateTreeBuilder(merging: first, path)
        for node in nodes.dropFirst() { try builder.merge(node, path) }
        let node = builder.node
        try WorkBudget.check()
        return node
    }
}

/// A part of a path with the operations below it.
struct UpdateBranch: Sendable {
    let name: String
    let node: UpdateNode
}

/// The operations on the fields of one document.
struct UpdateFields: Sendable {
    /// The operations by name, in order.
    var named: [UpdateBranch] = []
    /// The operations below `$`.
    var matched: UpdateNode?

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
        let found = UpdateFields(named: [UpdateBranch(name: String(position), node: matched)])
        let merged = try UpdateNode.merging(
            [.fields(UpdateFields(named: named)), .fields(found)], path)
        guard case .fields(let fields) = merged else { return named }
        return fields.named
    }
}
