/// A step of an expression with the steps that it depends on.
indirect enum ExpressionNode: Sendable {
    /// The same value for all documents; `nil` is missing.
    case constant(BSONValue?)
    /// The value at a path of `$$CURRENT`.
    case field(ExpressionPath)
    /// The value at a path of `$$ROOT`.
    case root(ExpressionPath)
    /// The value at a path of the variable in a slot.
    case variable(Int, ExpressionPath)
    /// The value of a system variable.
    case system(ExpressionSystemVariable)
    /// A document of fields; those without value are omitted.
    case object([(key: String, value: ExpressionNode)])
    /// An array; members without value become null.
    case array([ExpressionNode])
    /// The result of an operator.
    case call(ExpressionFunction, [ExpressionNode])

    /// Computes the value for a context; `nil` if there is none.
    func evaluate(_ context: inout ExpressionContext) throws(StoreError) -> BSONValue? {
        try WorkBudget.spend()
        switch self {
        case .constant(let value): return value
        case .field(let path): return context.value(at: path)
        case .root(let path): return context.rootValue(at: path)
        case .variable(let slot, let path): return path.value(in: context.values[slot])
        case .system(let variable): return try variable.value(in: context)
        case .object(let fields):
            var document = BSONDocument()
            for (key, node) in fields {
                guard let value = try node.evaluate(&context) else { continue }
                try ExpressionLimits.check(document.byteCount + BSONWriter.count(value))
                document.append(key, value)
            }
            return .document(document)
        case .array(let nodes):
            var builder = ArrayBuilder()
            for node in nodes { try builder.append(try node.evaluate(&context) ?? .null) }
            return builder.array
        case .call(let function, let nodes):
            let value = try function.call(nodes, &context)
            // The budget may have ended a loop early.
            try WorkBudget.spend()
            // Processors differ in the sign of a NaN that they compute.
            if case .double(let number) = value, number.isNaN { return .double(.nan) }
            return value
        }
    }

    /// Whether the value depends on the variable in a slot.
    func reads(_ slot: Int) -> Bool {
        switch self {
        case .constant, .field, .root, .system: false
        case .variable(let other, _): other == slot
        case .object(let fields): fields.contains { $0.value.reads(slot) }
        case .array(let nodes), .call(_, let nodes): nodes.contains { $0.reads(slot) }
        }
    }

    /// Whether the value depends on the document.
    var readsDocument: Bool {
        switch self {
        case .constant, .variable, .system: false
        case .field, .root: true
        case .object(let fields): fields.contains { $0.value.readsDocument }
        case .array(let nodes), .call(_, let nodes): nodes.contains(where: \.readsDocument)
        }
    }

    /// Whether the node is a constant.
    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }

    /// Returns the node, replaced by its value if it depends on nothing.
    ///
    /// - Throws: the error of computing it.
    func folded(slotCount: Int, _ collation: Collation?) throws(StoreError) -> ExpressionNode {
        let isFoldable =
            switch self {
            case .constant, .field, .root, .variable, .system: false
            case .object(let fields): fields.allSatisfy(\.value.isConstant)
            case .array(let nodes): nodes.allSatisfy(\.isConstant)
            case .call(let function, let nodes):
                function.isDeterministic && nodes.allSatisfy(\.isConstant)
            }
        guard isFoldable else { return self }
        var context = ExpressionContext(
            current: BSONDocument(), frame: ExpressionFrame(),
            slotCount: slotCount, collation: collation)
        return .constant(try evaluate(&context))
    }
}

/// A variable of the system that does not depend on the document.
enum ExpressionSystemVariable: Sendable, Hashable {
    case now
    case clusterTime
    case userRoles(ExpressionPath)

    fileprivate func value(in context: ExpressionContext) throws(StoreError) -> BSONValue? {
        switch self {
        case .now:
            guard let now = context.frame.now else { throw Self.unavailable("NOW") }
            return .datetime(now)
        case .userRoles(let path): return path.value(in: .array(context.frame.userRoles))
        case .clusterTime:
            guard let time = context.frame.clusterTime else {
                throw Self.unavailable("CLUSTER_TIME")
            }
            return .timestamp(time)
        }
    }

    /// Returns the error for a variable of the system without a value.
    static func unavailable(_ name: String) -> StoreError {
        StoreError(.variableUnavailable, "Builtin variable '$$\(name)' is not available")
    }
}

/// The computation of an operator on its arguments.
struct ExpressionFunction: Sendable {
    /// A computation from values.
    typealias Eager = @Sendable ([BSONValue?], ExpressionContext) throws(StoreError) -> BSONValue?
    /// A computation from steps, which it may skip or repeat.
    typealias Lazy =
        @Sendable ([ExpressionNode], inout ExpressionContext) throws(StoreError) -> BSONValue?

    enum Body: Sendable {
        case eager(Eager)
        case lazy(Lazy)
    }

    /// The operator's name with its dollar.
    let name: String
    /// Whether equal arguments give equal results, so that constants can be computed once.
    let isDeterministic: Bool
    let body: Body

    /// Applies the operator to the values of steps.
    fileprivate func call(
        _ nodes: [ExpressionNode], _ context: inout ExpressionContext
    ) throws(StoreError) -> BSONValue? {
        let value: BSONValue?
        switch body {
        case .lazy(let body): value = try body(nodes, &context)
        case .eager(let body):
            var arguments: [BSONValue?] = []
            arguments.reserveCapacity(nodes.count)
            for node in nodes { arguments.append(try node.evaluate(&context)) }
            value = try body(arguments, context)
        }
        if case .string(let text)? = value { try ExpressionLimits.checkText(text.utf8.count) }
        return value
    }

    init(_ name: String, isDeterministic: Bool = true, _ body: Body) {
        self.name = name
        self.isDeterministic = isDeterministic
        self.body = body
    }
}
