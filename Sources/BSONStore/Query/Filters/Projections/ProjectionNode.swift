/// The fields that a projection names below a place, in the order in which it names them.
struct ProjectionNode: Sendable {
    var fields: [Field] = []
    /// Whether a value is computed at any depth, so that missing documents are created.
    private(set) var computes = false

    /// A named field with its action.
    struct Field: Sendable {
        let key: [UInt8]
        var action: Action

        init(_ key: String, _ action: Action) {
            self.key = Array(key.utf8)
            self.action = action
        }

        var name: String { String(decoding: key, as: UTF8.self) }
    }

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
        if hint < fields.count, Self.isEqual(fields[hint].key, key) {
            hint += 1
            return hint - 1
        }
        for index in fields.indices where Self.isEqual(fields[index].key, key) {
            hint = index + 1
            return index
        }
        return nil
    }

    @inline(__always)
    private static func isEqual(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count
            && left.withUnsafeBytes { BSONCursor.isEqual($0, right) }
    }

    func index(of name: String) -> Int? { fields.firstIndex { $0.key.elementsEqual(name.utf8) } }

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
        guard let index = index(of: name) else {
            guard !isLast else { return fields.append(Field(name, action)) }
            var node = ProjectionNode()
            try node.insert(action, below: place.dropFirst(), at: path, from: next)
            return fields.append(Field(name, .nested(node)))
        }
        guard !isLast else {
            throw StoreError(
                .pathCollision,
                "Path collision at \(path.joined(separator: "."))")
        }
        guard case .nested(var node) = fields[index].action else {
            throw StoreError(
                .pathCollisionBelow,
                "Path collision at \(path.joined(separator: ".")) remaining portion "
                    + path.dropFirst().joined(separator: "."))
        }
        try node.insert(action, below: place.dropFirst(), at: path, from: next)
        fields[index].action = .nested(node)
    }

    /// Whether a path leads to a place with named fields below it.
    func hasNode(at path: [String]) -> Bool {
        var node = self
        for part in path {
            guard let index = node.index(of: part),
                case .nested(let next) = node.fields[index].action
            else { return false }
            node = next
        }
        return true
    }

    mutating func remove(_ name: String) {
        fields.removeAll { $0.key.elementsEqual(name.utf8) }
    }
}
