/// A parser for expressions that tracks the variables in scope.
struct ExpressionParser {
    /// The variables at this place of the expression.
    var scope: ExpressionScope
    /// The maximum number of slots that the expression uses.
    private(set) var slotCount: Int
    private var depth = 0
    /// Whether constant parts that fail are left to be computed later.
    private var defersErrors = false

    init(_ scope: ExpressionScope) {
        self.scope = scope
        slotCount = scope.count
    }

    /// Parses an expression of any form and computes the parts that depend on nothing.
    mutating func operand(_ value: BSONValue) throws(StoreError) -> ExpressionNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ExpressionLimits.depthMax else { throw ExpressionLimits.tooDeep }
        switch value {
        case .string(let text) where text.utf8.first == UInt8(ascii: "$"):
            return try reference(text)
        case .string(let text):
            try ExpressionLimits.checkText(text.utf8.count)
            return .constant(value)
        case .document(let document):
            // The slots of the parts are counted before the whole is computed.
            let node = try object(document)
            return try folded(node)
        case .array(let array):
            var nodes: [ExpressionNode] = []
            for value in array { nodes.append(try operand(value)) }
            return try folded(.array(nodes))
        default: return .constant(value)
        }
    }

    /// Parses an expression that may never be computed: only invalid syntax is an error.
    mutating func operandLeftOut(_ value: BSONValue) throws(StoreError) -> ExpressionNode {
        let outer = defersErrors
        defersErrors = true
        defer { defersErrors = outer }
        return try operand(value)
    }

    private func folded(_ node: ExpressionNode) throws(StoreError) -> ExpressionNode {
        do throws(StoreError) {
            return try node.folded(slotCount: slotCount, scope.collation)
        } catch {
            guard defersErrors else { throw error.during(.optimization) }
            return node
        }
    }

    /// Parses the arguments of an operator: the members of an array, or a single one.
    mutating func arguments(_ value: BSONValue) throws(StoreError) -> [ExpressionNode] {
        guard case .array(let array) = value else { return [try operand(value)] }
        var nodes: [ExpressionNode] = []
        for value in array { nodes.append(try operand(value)) }
        return nodes
    }

    /// Runs a body with further variables, which are removed afterwards.
    mutating func scoped<Result>(
        _ body: (inout ExpressionParser) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let outer = scope
        defer { scope = outer }
        return try body(&self)
    }

    /// Adds a variable to the scope and returns its slot.
    mutating func define(_ name: String) throws(StoreError) -> Int {
        let slot = try scope.define(name)
        slotCount = max(slotCount, scope.count)
        return slot
    }

    /// Parses `$path`, `$$variable` or `$$variable.path`.
    private func reference(_ text: String) throws(StoreError) -> ExpressionNode {
        guard text.utf8.count > 1 else {
            throw StoreError(
                .emptyFieldPath, "'$' by itself is not a valid FieldPath")
        }
        guard text.utf8.dropFirst().first == UInt8(ascii: "$") else {
            let path = try ExpressionPath(String(text.unicodeScalars.dropFirst()))
            // `$a` is `$$CURRENT.a`, and users may redefine that variable.
            return scope.slot(of: "CURRENT").map { .variable($0, path) } ?? .field(path)
        }
        let parts = text.unicodeScalars.dropFirst(2).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        try ExpressionScope.validateForReading(name)
        let path =
            parts.count == 1 ? .itself : try ExpressionPath(String(parts[1]), behind: name)
        if let constant = scope.constant(of: name) {
            return .constant(path.value(in: constant))
        }
        if let slot = scope.slot(of: name) { return .variable(slot, path) }
        switch name {
        case "ROOT": return .root(path)
        case "CURRENT": return .field(path)
        case "REMOVE": return .constant(nil)
        case "NOW" where !scope.hasTime, "CLUSTER_TIME" where !scope.hasTime:
            throw ExpressionSystemVariable.unavailable(name)
        case "NOW" where parts.count == 1: return .system(.now)
        case "CLUSTER_TIME" where parts.count == 1: return .system(.clusterTime)
        case "NOW", "CLUSTER_TIME": return .constant(nil)
        // The results of `$redact`, which it recognizes by their names.
        case "DESCEND", "PRUNE", "KEEP":
            return .constant(parts.count == 1 ? .string(name.lowercased()) : nil)
        case "USER_ROLES": return .system(.userRoles(path))
        default:
            throw StoreError(
                .undefinedVariable, "Use of undefined variable: \(name)")
        }
    }

    private mutating func object(_ document: BSONDocument) throws(StoreError) -> ExpressionNode {
        if document.keys.first?.utf8.first == UInt8(ascii: "$") {
            return try operatorCall(document)
        }
        var fields: [(key: String, value: ExpressionNode)] = []
        var seen: Set<Name> = []
        for (key, value) in document {
            try ExpressionPath.validate(fieldName: key)
            guard seen.insert(key).inserted else {
                throw StoreError(
                    .duplicateLiteralField,
                    "duplicate field name specified in object literal: "
                        + ShellText.text(of: document))
            }
            fields.append((key, try operand(value)))
        }
        return .object(fields)
    }

    private mutating func operatorCall(
        _ document: BSONDocument
    ) throws(StoreError) -> ExpressionNode {
        var elements = document.makeIterator()
        guard let (name, argument) = elements.next(), elements.next() == nil else {
            throw StoreError(
                .expressionNotSingleField,
                "An object representing an expression must have exactly one field: "
                    + ShellText.text(of: document))
        }
        guard let found = ExpressionOperator.all[name] else {
            throw StoreError(
                .invalidPipelineOperator, "Unrecognized expression '\(name)'")
        }
        return try found.parse(name, argument, &self)
    }
}
