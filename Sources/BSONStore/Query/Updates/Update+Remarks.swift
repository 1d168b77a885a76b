extension Update {
    /// Returns facts about an update that the documents before and after it do not show.
    ///
    /// These are the paths at which it wrote whole documents and arrays, and whether it was a
    /// pipeline; `nil` if there are none.
    static func remarks(_ kind: Kind) -> BSONDocument? {
        switch kind {
        case .replacement: return nil
        case .pipeline: return [StoreChange.Annotation.isByPipeline.rawValue: true]
        case .operators(let tree):
            var written = WrittenPathCollector()
            written.add(.fields(tree.root), at: "")
            return written.remarks
        }
    }
}

/// A collector of the paths at which operators write whole values.
private struct WrittenPathCollector {
    private var whole: [BSONValue] = []
    private var pushed: [BSONValue] = []

    var remarks: BSONDocument? {
        guard !whole.isEmpty || !pushed.isEmpty else { return nil }
        var remarks = BSONDocument()
        if !whole.isEmpty {
            remarks.append(StoreChange.Annotation.writtenPaths.rawValue, .array(BSONArray(whole)))
        }
        if !pushed.isEmpty {
            remarks.append(StoreChange.Annotation.pushedPaths.rawValue, .array(BSONArray(pushed)))
        }
        return remarks
    }

    mutating func add(_ node: UpdateNode, at path: String) {
        switch node {
        case .leaf(let operation, _): add(operation, at: path)
        case .fields(let fields):
            for branch in fields.named { add(branch.node, at: Self.join(path, branch.name)) }
            if let matched = fields.matched { add(matched, at: Self.join(path, "$")) }
        case .elements(let branches):
            for branch in branches { add(branch.node, at: Self.join(path, "$[]")) }
        }
    }

    private static func join(_ path: String, _ name: String) -> String {
        path.isEmpty ? name : "\(path).\(name)"
    }

    private mutating func add(_ operation: UpdateOperation, at path: String) {
        switch operation {
        case .set(let value), .least(let value), .greatest(let value):
            if UpdateLimits.depth(value) > 0 { whole.append(.string(path)) }
        case .push(let push):
            if push.sort != nil {
                whole.append(.string(path))
            } else if push.slice != nil || push.position != nil {
                pushed.append(.string(path))
            }
        case .rename, .addToSet, .pull, .pullAll, .pop: whole.append(.string(path))
        case .setOnInsert, .unset, .increment, .multiply, .currentDate, .renameSource, .bit: break
        }
    }
}
