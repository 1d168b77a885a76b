internal import BSONStore

extension FieldRules {
    /// Returns the permissions for a user.
    ///
    /// A field's own read and write permissions apply to everything in it; nested rules refine what
    /// it leaves open.
    func node(_ permission: (RuleExpression) -> Bool) -> FieldNode {
        node(read: nil, write: nil, permission)
    }

    fileprivate func node(
        read: Bool?, write: Bool?, _ permission: (RuleExpression) -> Bool
    ) -> FieldNode {
        let children = named.mapValues { $0.node(read: read, write: write, permission) }
        let others = FieldPermission(
            read: read ?? additional?.read.map(permission),
            write: write ?? additional?.write.map(permission))
        if children.values.allSatisfy({ $0 == .leaf(others) }) { return .leaf(others) }
        return .branch(children, others: others)
    }
}

extension FieldRule {
    fileprivate func node(
        read: Bool?, write: Bool?, _ permission: (RuleExpression) -> Bool
    ) -> FieldNode {
        let read = read ?? grant.read.map(permission)
        let write = write ?? grant.write.map(permission)
        if let nested, read == nil || write == nil {
            return nested.node(read: write == true ? true : read, write: write, permission)
        }
        return .leaf(FieldPermission(read: read, write: write))
    }
}
