import BSONStore

/// The fields of documents that are read from columns; `a.b` is a field of an embedded document.
struct ColumnPlan: Sendable {
    /// A field: a column, or an embedded document.
    private struct Node: Sendable {
        let name: String
        var column: Int?
        var children: [Node] = []
    }

    private var nodes: [Node] = []
    private var names: [String] = []
    private var types: [ColumnType] = []

    /// Reads the columns' names, with types such as `age.int32()` if they have some.
    ///
    /// - Throws: `CommandError` for an unknown type, an empty name, and a name that is used twice.
    init(_ columns: [String], haveTypes: Bool) throws(CommandError) {
        for (index, column) in columns.enumerated() {
            var (name, type) = (column[...], ColumnType.auto)
            if haveTypes {
                let open = column.firstIndex(of: "(") ?? column.endIndex
                guard let dot = column[..<open].lastIndex(of: "."),
                    let known = ColumnType(column[column.index(after: dot)...])
                else {
                    throw CommandError(
                        "the column \(index + 1), \(column), has no known type; write "
                            + "NAME.TYPE, with one of \(ColumnType.names)")
                }
                (name, type) = (column[..<dot], known)
            }
            let path = name.split(separator: ".", omittingEmptySubsequences: false)
                .map(String.init)
            guard !path.contains("") else {
                throw CommandError(
                    "the column \(index + 1) has an empty name; name it with --fields")
            }
            guard Self.add(path[...], index, to: &nodes) else {
                throw CommandError("the column \(index + 1), \(name), is named twice")
            }
            names.append(String(name))
            types.append(type)
        }
    }

    private static func add(_ path: ArraySlice<String>, _ column: Int, to nodes: inout [Node])
        -> Bool
    {
        guard let name = path.first else { return false }
        let place = nodes.firstIndex { $0.name.hasSameBytes(as: name) }
        guard path.count > 1 else {
            guard place == nil else { return false }
            nodes.append(Node(name: name, column: column))
            return true
        }
        let index = place ?? nodes.count
        if place == nil { nodes.append(Node(name: name)) }
        guard nodes[index].column == nil else { return false }
        return add(path.dropFirst(), column, to: &nodes[index].children)
    }

    /// Returns the document of a record.
    ///
    /// Values without a column are named `field3` and so on, as mongoimport names them.
    func document(
        of fields: [RecordReader.Field], ignoresBlanks: Bool
    ) throws(ImportLineError) -> BSONDocument {
        var values: [BSONValue?] = []
        for (index, field) in fields.enumerated() {
            let isKnown = index < names.count
            values.append(
                try Self.value(
                    of: field, isKnown ? types[index] : .auto,
                    isKnown ? names[index] : "field\(index)", ignoresBlanks))
        }
        var document = Self.document(nodes, values)
        for index in fields.indices.dropFirst(names.count) {
            if let value = values[index] { document.append("field\(index)", value) }
        }
        return document
    }

    private static func document(_ nodes: [Node], _ values: [BSONValue?]) -> BSONDocument {
        var document = BSONDocument()
        for node in nodes {
            if let column = node.column {
                if column < values.count, let value = values[column] {
                    document.append(node.name, value)
                }
            } else {
                let child = Self.document(node.children, values)
                if !child.isEmpty { document.append(node.name, .document(child)) }
            }
        }
        return document
    }

    private static func value(
        of field: RecordReader.Field, _ type: ColumnType, _ name: String, _ ignoresBlanks: Bool
    ) throws(ImportLineError) -> BSONValue? {
        if ignoresBlanks, field.bytes.isEmpty { return nil }
        guard let text = String(validating: field.bytes, as: UTF8.self) else {
            throw .text("\(name) is not UTF-8", column: field.column)
        }
        if let value = type.value(of: text) { return value }
        let advice = text.isEmpty ? " (--ignore-blanks leaves empty values out)" : ""
        throw .text(
            "\(name): \"\(text.prefix(40).description.printable)\" is not of the type "
                + "\(type.name)\(advice)", column: field.column)
    }
}
