/// Chooses the fields of documents: those that are named, or all but those.
///
/// Source: MongoDB manual, "Projection"; the forms with fields 0 and 1, dotted or nested.
public struct Projection: Sendable {
    private let root: Node
    private let includes: Bool
    private let withID: Bool

    /// The fields below a field; none for a field that is named itself.
    private struct Node: Sendable {
        var children: [(key: String, node: Node)] = []

        func child(_ key: UnsafeRawBufferPointer) -> Node? {
            children.first { $0.key.utf8.elementsEqual(key) }?.node
        }
    }

    /// Reads a projection such as `["name": 1, "address.city": 1, "_id": 0]`.
    ///
    /// - Throws: 31253 and 31254 when inclusion and exclusion are mixed, 31249 and 31250 when paths
    ///   collide, with MongoDB's text.
    public init(_ document: BSONDocument) throws(StoreError) {
        var fields: [(path: [String], isIncluded: Bool)] = []
        try Self.collect(document, below: [], into: &fields)
        let others = fields.filter { $0.path != ["_id"] }
        let idField = fields.first { $0.path == ["_id"] }
        includes = others.first?.isIncluded ?? idField?.isIncluded ?? false
        withID = idField?.isIncluded ?? true
        for field in others where field.isIncluded != includes {
            throw StoreError(
                StoreError.Code(rawValue: includes ? 31254 : 31253),
                "Cannot do \(includes ? "exclusion" : "inclusion") on field "
                    + "\(field.path.joined(separator: ".")) in "
                    + "\(includes ? "inclusion" : "exclusion") projection")
        }
        var root = Node()
        for field in others { try Self.insert(field.path[...], of: field.path, into: &root) }
        self.root = root
    }

    /// The document with the chosen fields, in the document's order.
    public func apply(to document: BSONDocument) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: document.byteCount)
        document.withCursor { cursor in
            while let element = cursor.next() {
                if "_id".utf8.elementsEqual(element.key) {
                    if withID { builder.append(element) }
                    continue
                }
                project(element, root, into: &builder)
            }
        }
        return builder.finish()
    }

    private func project(
        _ element: BSONRawElement, _ parent: Node, into builder: inout BSONDocumentBuilder
    ) {
        guard let node = parent.child(element.key) else {
            if !includes { builder.append(element) }
            return
        }
        guard !node.children.isEmpty else {
            if includes { builder.append(element) }
            return
        }
        let key = String(decoding: element.key, as: UTF8.self)
        switch element.value.type {
        case .document:
            builder.append(key, .document(projected(element.value, node)))
        case .array:
            builder.append(key, .array(projectedArray(element.value, node)))
        default: if !includes { builder.append(element) }
        }
    }

    private func projected(_ value: BSONRawValue, _ node: Node) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: value.count)
        var cursor = BSONCursor(value)
        while let element = cursor.next() { project(element, node, into: &builder) }
        return builder.finish()
    }

    /// Documents in arrays are projected one by one; other values stay only in an exclusion.
    private func projectedArray(_ value: BSONRawValue, _ node: Node) -> BSONArray {
        var values: [BSONValue] = []
        var cursor = BSONCursor(value)
        while let element = cursor.next() {
            switch element.value.type {
            case .document: values.append(.document(projected(element.value, node)))
            case .array: values.append(.array(projectedArray(element.value, node)))
            default: if !includes { values.append(BSONValue(copying: element.value)) }
            }
        }
        return BSONArray(values)
    }

    private static func collect(
        _ document: BSONDocument, below path: [String],
        into fields: inout [(path: [String], isIncluded: Bool)]
    ) throws(StoreError) {
        for (key, value) in document {
            let here = path + (try FieldPath(key)).parts
            guard !here.contains(where: { $0.hasPrefix("$") || $0.isEmpty }) else {
                throw StoreError(
                    StoreError.Code(rawValue: 238),
                    "The projection of '\(here.joined(separator: "."))' is not implemented in this "
                        + "version")
            }
            switch value {
            case .double, .bool, .int32, .int64, .decimal128:
                fields.append((here, PredicateParser.isTrue(value)))
            case .document(let nested):
                guard !nested.isEmpty else {
                    throw StoreError(
                        StoreError.Code(rawValue: 51270),
                        "An empty sub-projection is not a valid value. Found empty object at path")
                }
                try collect(nested, below: here, into: &fields)
            default:
                throw StoreError(
                    StoreError.Code(rawValue: 238),
                    "Projections with expressions are not implemented in this version")
            }
        }
    }

    private static func insert(
        _ path: ArraySlice<String>, of whole: [String], into node: inout Node
    ) throws(StoreError) {
        guard let key = path.first else { return }
        let isLast = path.count == 1
        if let index = node.children.firstIndex(where: { $0.key == key }) {
            guard !isLast, !node.children[index].node.children.isEmpty else {
                let rest = path.dropFirst().joined(separator: ".")
                throw StoreError(
                    StoreError.Code(rawValue: isLast ? 31250 : 31249),
                    isLast
                        ? "Path collision at \(whole.joined(separator: "."))"
                        : "Path collision at \(whole.joined(separator: ".")) remaining portion "
                            + rest)
            }
            return try insert(path.dropFirst(), of: whole, into: &node.children[index].node)
        }
        var child = Node()
        if !isLast { try insert(path.dropFirst(), of: whole, into: &child) }
        node.children.append((key, child))
    }
}
