/// A parsed aggregation expression that computes a value from a document.
///
/// A string that begins with a dollar is a field path or a variable. A document whose first key
/// begins with a dollar is an operator. The members of other documents and arrays are expressions.
/// Every other value stands for itself. Parts that depend on no document are computed at parsing
/// and report their errors there.
///
/// Source: MongoDB manual, "Aggregation Operators", version 7.0.
package struct Expression: Sendable {
    /// The parsed steps, for callers that search them for fields or constants.
    private(set) var node: ExpressionNode
    private let slotCount: Int
    private let collation: Collation?

    /// Parses an expression of any form.
    ///
    /// - Throws: MongoDB's error for an invalid expression or a constant part that fails.
    init(_ value: BSONValue, in scope: ExpressionScope = ExpressionScope()) throws(StoreError) {
        if !scope.hasTime {
            // A missing variable is reported before the errors of constant parts.
            var checker = ExpressionParser(scope)
            _ = try checker.operandLeftOut(value)
        }
        var parser = ExpressionParser(scope)
        node = try parser.operand(value)
        slotCount = parser.slotCount
        collation = scope.collation
    }

    /// Creates the expression of a value that stands for itself.
    init(constant value: BSONValue) {
        node = .constant(value)
        slotCount = 0
        collation = nil
    }

    /// Parses a document that is an operator, or a literal document of expressions.
    ///
    /// - Throws: as ``init(_:in:)``.
    init(object: BSONDocument, in scope: ExpressionScope) throws(StoreError) {
        try self.init(.document(object), in: scope)
    }

    /// Returns the literal document of one field, with null if the field has no value.
    func withNullForMissing(at name: String) -> Expression {
        var filled = self
        switch node {
        case .constant(.document(let document)?) where document.isEmpty:
            filled.node = .constant(.document([name: .null]))
        case .object(let fields) where fields.count == 1:
            let orNull = ExpressionFunction("", .eager { arguments, _ in arguments[0] ?? .null })
            filled.node = .object([(fields[0].key, .call(orNull, [fields[0].value]))])
        default: break
        }
        return filled
    }

    /// Computes the value for a document; `nil` if there is none, as for a missing field.
    ///
    /// - Parameter index: the document's index, if many expressions are computed for it.
    /// - Throws: MongoDB's error for values that an operator does not accept.
    func evaluate(
        _ document: BSONDocument, _ frame: ExpressionFrame, _ index: IndexedDocument? = nil
    ) throws(StoreError) -> BSONValue? {
        switch node {
        case .constant(let value): return value
        case .field(let path):
            return index.map { path.value(in: $0) } ?? path.value(in: document)
        case .root, .variable, .system, .object, .array, .call:
            var context = ExpressionContext(
                current: document, frame: frame, slotCount: slotCount, collation: collation)
            context.index = index
            return try node.evaluate(&context)
        }
    }

    /// Whether texts that are equal here are equal by a collation, too.
    func comparesTexts(by other: Collation?, _ frame: ExpressionFrame?) -> Bool {
        let own = collation ?? frame?.collation
        return own == nil || own == other
    }

    /// The value if it is the same for all documents: `.some(nil)` is a constant without value.
    var constant: BSONValue?? {
        if case .constant(let value) = node { .some(value) } else { nil }
    }

    /// Whether its value may differ from document to document.
    var readsDocument: Bool { node.readsDocument }

    /// Whether a value counts as true: all except missing, null, undefined, false and zeros.
    static func isTrue(_ value: BSONValue?) -> Bool {
        switch value {
        case nil, .null, .undefined: false
        case .bool(let value): value
        case .double(let value): value != 0
        case .int32(let value): value != 0
        case .int64(let value): value != 0
        case .decimal128(let value): value.kind != .finite || value.coefficient != 0
        default: true
        }
    }
}
