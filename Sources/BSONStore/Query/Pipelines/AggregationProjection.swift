/// A projection of `$project`, `$addFields` or `$unset`: it includes, excludes and computes fields.
///
/// The projections of `find` have the same language since MongoDB 4.4 and are built on this type;
/// they add `$slice`, `$elemMatch` and the positional operator. A path leads through documents and
/// through every document of arrays, also of nested arrays; it cannot contain positions.
///
/// Source: MongoDB manual, "$project (aggregation)" and "$addFields (aggregation)".
struct AggregationProjection: Sendable {
    /// The treatment of fields that are not named.
    enum Kind: Sendable, Hashable {
        /// Other fields are omitted.
        case inclusion
        /// Other fields are kept; named ones are omitted.
        case exclusion
        /// Other fields are kept; named ones are computed.
        case addition
    }

    /// The action on a named field.
    indirect enum Action: Sendable {
        /// The field is included or excluded unchanged.
        case choose
        /// The action applies to fields below it.
        case nested(Node)
        /// The field gets the value of an expression; without a value it is omitted.
        case compute(Expression)
    }

    /// The named fields below a place, in the order in which they were named.
    struct Node: Sendable {
        private(set) var named = NamedFields<Action>()
        /// Whether an expression occurs at any depth, so that missing documents are created.
        private(set) var computes = false

        /// Adds an action at a path.
        ///
        /// - Throws: 31249 and 31250 if it collides with an existing path.
        mutating func insert(
            _ action: Action, at path: ArraySlice<String>, _ whole: String
        ) throws(StoreError) {
            guard let key = path.first else { return }
            if case .compute = action { computes = true }
            guard let place = named.index(of: key) else {
                guard path.count > 1 else { return named.append(key, action) }
                var node = Self()
                try node.insert(action, at: path.dropFirst(), whole)
                return named.append(key, .nested(node))
            }
            guard path.count > 1 else {
                throw StoreError(
                    .pathCollision, "Path collision at \(whole)")
            }
            try named.update(place) { (content) throws(StoreError) in
                guard case .nested(var node) = content else {
                    let rest = path.dropFirst().joined(separator: ".")
                    throw StoreError(
                        .pathCollisionBelow,
                        "Path collision at \(whole) remaining portion \(rest)")
                }
                // The old node is released first, so that the new one is changed in place.
                content = .choose
                try node.insert(action, at: path.dropFirst(), whole)
                content = .nested(node)
            }
        }

        /// Names `_id` as a field that is chosen, behind all others.
        mutating func includeID() { named.append("_id", .choose) }

        /// Removes `_id` from the named fields.
        mutating func removeID() { named.remove("_id") }
    }

    let kind: Kind
    let root: Node

    init(kind: Kind, root: Node) {
        self.kind = kind
        self.root = root
    }

    /// Returns the projection of a document; the expressions see the frame with it as root.
    ///
    /// - Throws: the errors of the expressions.
    func apply(
        to document: BSONDocument, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument {
        let applying = ProjectionApplier(
            kind: kind, document: document, frame: frame, index: IndexedDocument(document))
        return try applying.apply(root, to: document)
    }
}

/// The application of a projection to one document.
private struct ProjectionApplier {
    let kind: AggregationProjection.Kind
    /// The document that the expressions see.
    let document: BSONDocument
    let frame: ExpressionFrame
    /// The index of that document.
    let index: IndexedDocument

    /// Projects the fields of a document: chosen ones in its order, then new ones.
    func apply(
        _ node: AggregationProjection.Node, to input: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: input.byteCount + 64)
        let fields = node.named.fields
        var isDone = Array(repeating: false, count: fields.count)
        var hint = 0
        try input.withCursor { (cursor) throws(StoreError) in
            while let element = cursor.next() {
                try WorkBudget.spend()
                guard let index = node.named.index(of: element.key, &hint) else {
                    if kind != .inclusion { builder.append(element) }
                    continue
                }
                if try apply(fields[index].content, to: element, &builder) { isDone[index] = true }
            }
        }
        for (index, field) in fields.enumerated() where !isDone[index] {
            try WorkBudget.spend()
            try add(field.content, field.name, &builder)
        }
        return builder.finish()
    }

    /// Applies the action to an existing field; returns `false` if it is still to be added.
    private func apply(
        _ action: AggregationProjection.Action, to element: BSONRawElement,
        _ builder: inout BSONDocumentBuilder
    ) throws(StoreError) -> Bool {
        switch action {
        case .choose:
            if kind == .inclusion { builder.append(element) }
        case .nested(let node):
            guard let value = try apply(node, to: element.value) else { return true }
            builder.append(String(validUTF8: element.key), value)
        case .compute(let expression):
            // In an inclusion a computed field does not depend on the existing one.
            guard kind == .addition else { return false }
            guard let value = try expression.evaluate(document, frame, index) else { return true }
            builder.append(String(validUTF8: element.key), value)
        }
        return true
    }

    /// Adds a field that does not exist.
    private func add(
        _ action: AggregationProjection.Action, _ key: String,
        _ builder: inout BSONDocumentBuilder
    ) throws(StoreError) {
        switch action {
        case .choose: return
        case .nested(let node):
            guard node.computes else { return }
            builder.append(key, .document(try apply(node, to: BSONDocument())))
        case .compute(let expression):
            guard let value = try expression.evaluate(document, frame, index) else { return }
            builder.append(key, value)
        }
    }

    /// Projects a value with named fields below it; `nil` if nothing remains.
    private func apply(
        _ node: AggregationProjection.Node, to value: BSONRawValue
    ) throws(StoreError) -> BSONValue? {
        switch value.type {
        case .document:
            guard case .document(let input) = BSONValue(copying: value) else { return nil }
            return .document(try apply(node, to: input))
        case .array:
            var values: [BSONValue] = []
            var cursor = BSONCursor(value)
            while let element = cursor.next() {
                if let value = try apply(node, to: element.value) { values.append(value) }
            }
            return .array(BSONArray(values))
        default:
            if node.computes { return .document(try apply(node, to: BSONDocument())) }
            guard kind != .inclusion else { return nil }
            return BSONValue(copying: value)
        }
    }
}
