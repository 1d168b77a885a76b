/// The fields that a projection names below a place, in the order in which it names them.
struct ProjectionNode: Sendable {
    private(set) var named = NamedFields<Action>()
    /// Whether a value is computed at any depth, so that missing documents are created.
    private(set) var computes = false

    /// The fields in the order in which they were named.
    var fields: [NamedFields<Action>.Field] { named.fields }

    /// The action on a named field.
    indirect enum Action: Sendable {
        /// The field is included or excluded unchanged.
        case choose
        /// The action applies to fields below it.
        case nested(ProjectionNode)
        /// The field gets the value of an expression; without a value it is omitted.
        case compute(Expression)
        /// The field becomes an array of its first element that passes a filter on the field.
        case element(Filter)
    }

    /// Returns the position of a field; the search begins at `hint`, which becomes the next
    /// position.
    @inline(__always)
    func index(of key: UnsafeRawBufferPointer, _ hint: inout Int) -> Int? {
        named.index(of: key, &hint)
    }

    /// Adds an action at a path below this place.
    ///
    /// - Throws: 31249 and 31250 if it collides with an existing path.
    mutating func insert(
        _ action: Action, below place: ArraySlice<String>, at path: [String], from depth: Int = 0
    ) throws(StoreError) {
        switch action {
        case .compute, .element: computes = true
        case .choose, .nested: break
        }
        let isBelow = !place.isEmpty
        let name = place.first ?? path[depth]
        let isLast = !isBelow && depth == path.count - 1
        let next = isBelow ? depth : depth + 1
        guard let index = named.index(of: name) else {
            guard !isLast else { return named.append(name, action) }
            var node = ProjectionNode()
            try node.insert(action, below: place.dropFirst(), at: path, from: next)
            return named.append(name, .nested(node))
        }
        guard !isLast else {
            throw StoreError(
                .pathCollision,
                "Path collision at \(path.joined(separator: "."))")
        }
        try named.update(index) { (content) throws(StoreError) in
            guard case .nested(var node) = content else {
                throw StoreError(
                    .pathCollisionBelow,
                    "Path collision at \(path.joined(separator: ".")) remaining portion "
                        + path.dropFirst().joined(separator: "."))
            }
            // The old node is released first, so that the new one is changed in place.
            content = .choose
            try node.insert(action, below: place.dropFirst(), at: path, from: next)
            content = .nested(node)
        }
    }

    /// Whether a path leads to a place with named fields below it.
    func hasNode(at path: [String]) -> Bool {
        var node = self
        for part in path {
            guard let index = node.named.index(of: part),
                case .nested(let next) = node.fields[index].content
            else { return false }
            node = next
        }
        return true
    }

    /// Names `_id` as a field that is chosen, before all others.
    mutating func includeID() { named.prepend("_id", .choose) }

    mutating func remove(_ name: String) { named.remove(name) }

    /// Removes paths that were only added to detect collisions.
    mutating func forget(_ paths: [ArraySlice<String>]) {
        var below: [Int: [ArraySlice<String>]] = [:]
        var removed: Set<Int> = []
        for path in paths {
            guard let key = path.first, let index = named.index(of: key) else { continue }
            if path.count > 1, case .nested = fields[index].content {
                below[index, default: []].append(path.dropFirst())
            } else {
                removed.insert(index)
            }
        }
        for (index, paths) in below {
            named.update(index) { content in
                guard case .nested(var node) = content else { return }
                content = .choose
                node.forget(paths)
                if node.fields.isEmpty { removed.insert(index) }
                content = .nested(node)
            }
        }
        named.remove(at: removed)
    }
}
