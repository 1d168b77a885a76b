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
        var fields: [(key: String, action: Action)] = []
        /// Whether an expression occurs at any depth, so that missing documents are created.
        var computes = false

        /// Returns the position of a named field.
        func index(of key: UnsafeRawBufferPointer) -> Int? {
            fields.firstIndex { field in
                field.key.utf8.count == key.count && field.key.utf8.elementsEqual(key)
            }
        }
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
        let applying = ProjectionApplier(kind: kind, document: document, frame: frame)
        return try applying.apply(root, to: document)
    }
}

/// The application of a projection to one document.
private struct ProjectionApplier {
    let kind: AggregationProjection.Kind
    /// The document that the expressions see.
    let document: BSONDocument
    let frame: ExpressionFrame

    /// Projects the fields of a document: chosen ones in its order, then new ones.
    func apply(
        _ node: AggregationProjection.Node, to input: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: input.byteCount + 64)
        var seen: Set<Int> = []
        try input.withCursor { (cursor) throws(StoreError) in
            while let element = cursor.next() {
                guard let index = node.index(of: element.key) else {
                    if kind != .inclusion { builder.append(element) }
                    continue
                }
                try apply(node.fields[index].action, to: element, &builder) { seen.insert(index) }
            }
        }
        for (index, field) in node.fields.enumerated() where !seen.contains(index) {
            try add(field.action, field.key, &builder)
        }
        return builder.finish()
    }

    /// Applies the action to an existing field.
    private func apply(
        _ action: AggregationProjection.Action, to element: BSONRawElement,
        _ builder: inout BSONDocumentBuilder, isDone: () -> Void
    ) throws(StoreError) {
        switch action {
        case .choose:
            if kind == .inclusion { builder.append(element) }
            isDone()
        case .nested(let node):
            isDone()
            guard let value = try apply(node, to: element.value) else { return }
            builder.append(String(validUTF8: element.key), value)
        case .compute(let expression):
            // In an inclusion a computed field does not depend on the existing one.
            guard kind == .addition else { return }
            isDone()
            guard let value = try expression.evaluate(document, frame) else { return }
            builder.append(String(validUTF8: element.key), value)
        }
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
            guard let value = try expression.evaluate(document, frame) else { return }
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
