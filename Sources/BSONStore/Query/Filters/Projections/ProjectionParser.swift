/// A parser for projections of `find` that follows MongoDB, with its error texts.
struct ProjectionParser {
    private let options: EvaluationOptions
    private var root = ProjectionNode()
    private var operators: [ProjectionOperator] = []
    private var kind: Projection.Kind?
    private var namesID = false
    private var includesID = false
    private var excludesID = false
    private var hasSlice = false
    private var hasElementMatch = false
    private var hasPositional = false

    /// Parses the kind of a projection, its fields and its operators.
    static func parse(
        _ document: BSONDocument, _ options: EvaluationOptions
    ) throws(StoreError) -> (Projection.Kind, ProjectionNode, [ProjectionOperator]) {
        var parser = ProjectionParser(options: options)
        for (key, value) in document {
            try WorkBudget.spend()
            if key == "_id" || key.hasBytePrefix("_id.") { parser.namesID = true }
            try parser.read(key, value, below: [])
        }
        return parser.finish()
    }

    private init(options: EvaluationOptions) { self.options = options }

    private func finish() -> (Projection.Kind, ProjectionNode, [ProjectionOperator]) {
        let kind = kind ?? defaultKind
        var root = root
        switch kind {
        case .inclusion:
            if !namesID { root.includeID() }
            if excludesID { root.remove("_id") }
            // Fields that are sliced or searched later must be chosen first.
            return (kind, root, operators)
        case .exclusion:
            if includesID { root.remove("_id") }
            root.forget(slicedPaths)
            return (kind, root, operators)
        }
    }

    private var slicedPaths: [ArraySlice<String>] {
        operators.compactMap { if case .slice(let path, _) = $0 { path[...] } else { nil } }
    }

    /// The kind if only `_id` and operators are named.
    private var defaultKind: Projection.Kind {
        if hasSlice { return includesID ? .inclusion : .exclusion }
        if hasElementMatch { return .inclusion }
        return includesID && !excludesID ? .inclusion : .exclusion
    }

    private mutating func read(
        _ key: String, _ value: BSONValue, below place: [String]
    ) throws(StoreError) {
        guard place.count < ExpressionLimits.depthMax else { throw ExpressionLimits.tooDeep }
        let isPositional = key.hasByteSuffix(".$")
        guard !key.contains(".$.") else {
            throw .location(
                31394,
                "As of 4.4, it's illegal to specify positional operator in the middle of a path."
                    + "Positional projection may only be used at the end, for example: a.b.$. If the "
                    + "query previously used a form like a.b.$.d, remove the parts following the '$' "
                    + "and the results will be equivalent.")
        }
        switch value {
        case .document(let document):
            guard !isPositional else {
                throw .location(
                    31271, "positional projection cannot be used with an expression or sub object")
            }
            try read(document, key, below: place)
        case .double, .bool, .int32, .int64, .decimal128:
            if PredicateParser.isTrue(value) {
                try include(key, below: place, isPositional: isPositional)
            } else {
                guard !isPositional else {
                    throw .location(
                        31395, "positional projection cannot be used with exclusion")
                }
                try exclude(key, below: place)
            }
        default:
            guard !isPositional else {
                throw .location(31308, "positional projection cannot be used with a literal")
            }
            try literal(key, value, below: place)
        }
    }

    private mutating func include(
        _ key: String, below place: [String], isPositional: Bool
    ) throws(StoreError) {
        let isID = key == "_id" && place.isEmpty
        if isPositional {
            try includePositional(key, below: place)
        } else {
            try insert(.choose, key, below: place)
            if isID { includesID = true }
        }
        guard !isID else { return }
        guard kind != .exclusion else {
            throw .location(
                31253, "Cannot do inclusion on field \(key) in exclusion projection")
        }
        kind = .inclusion
    }

    private mutating func includePositional(
        _ key: String, below place: [String]
    ) throws(StoreError) {
        guard !hasPositional else {
            throw .location(
                31276, "Cannot specify more than one positional projection per query.")
        }
        guard !hasElementMatch else {
            throw .location(31256, "Cannot specify positional operator and $elemMatch.")
        }
        guard key != ".$" else {
            throw .location(5_392_900, "Projection on field \(key) is invalid")
        }
        let path = try insert(.choose, key.droppingLastBytes(2), below: place)
        operators.append(.positional(path))
        hasPositional = true
    }

    private mutating func exclude(_ key: String, below place: [String]) throws(StoreError) {
        try insert(.choose, key, below: place)
        guard key != "_id" || !place.isEmpty else { return excludesID = true }
        guard kind != .inclusion else {
            throw .location(
                31254, "Cannot do exclusion on field \(key) in inclusion projection")
        }
        kind = .exclusion
    }

    private mutating func literal(
        _ key: String, _ value: BSONValue, below place: [String]
    ) throws(StoreError) {
        let expression = try Expression(value, in: options.variables)
        try insert(.compute(expression), key, below: place)
        guard kind != .exclusion else {
            throw .location(
                31310,
                "Cannot use an expression \(key): \(ShellText.text(of: value)) in an exclusion "
                    + "projection")
        }
        kind = .inclusion
    }

    private mutating func read(
        _ document: BSONDocument, _ key: String, below place: [String]
    ) throws(StoreError) {
        guard !document.isEmpty else {
            throw .location(
                51270,
                "An empty sub-projection is not a valid value. Found empty object at path")
        }
        let path = try ExpressionPath(key).parts
        var elements = document.makeIterator()
        if let first = elements.next(), elements.next() == nil, first.key.hasBytePrefix("$") {
            if try readOperator(first, document, key, below: place) { return }
            let name = first.key.hasByteSuffix(".$") ? first.key.droppingLastBytes(2) : first.key
            do throws(StoreError) { _ = try ExpressionPath(name) } catch {
                throw .location(31325, "Unknown expression \(first.key)")
            }
        }
        if !root.hasNode(at: place + path) {
            try root.insert(.nested(ProjectionNode()), below: place[...], at: path)
        }
        for (key, value) in document { try read(key, value, below: place + path) }
    }

    /// Parses a document of one operator; returns `false` if there is no such operator.
    private mutating func readOperator(
        _ element: BSONDocument.Element, _ document: BSONDocument, _ key: String,
        below place: [String]
    ) throws(StoreError) -> Bool {
        switch element.key {
        case "$slice":
            do throws(StoreError) {
                let slice = try ProjectionSlice(element.value)
                let path = try insert(.choose, key, below: place)
                operators.append(.slice(path, slice))
                hasSlice = true
            } catch {
                try readSliceExpression(document, key, below: place, error)
            }
            return true
        case "$elemMatch":
            try readElementMatch(element.value, document, key, below: place)
            return true
        default: return try readExpression(element.key, document, key, below: place)
        }
    }

    private mutating func readSliceExpression(
        _ document: BSONDocument, _ key: String, below place: [String], _ cause: StoreError
    ) throws(StoreError) {
        do throws(StoreError) {
            guard try readExpression("$slice", document, key, below: place) else { throw cause }
        } catch {
            throw StoreError(
                error.code,
                "Invalid $slice syntax. The given syntax \(ShellText.text(of: document)) did not "
                    + "match the find() syntax because :: \(cause.code): \(cause.message) :: The "
                    + "given syntax did not match the expression $slice syntax. :: caused by :: "
                    + error.message)
        }
    }

    private mutating func readExpression(
        _ name: String, _ document: BSONDocument, _ key: String, below place: [String]
    ) throws(StoreError) -> Bool {
        guard ExpressionOperator.all[name] != nil else { return false }
        let isMeta = name == "$meta"
        guard kind != .exclusion || isMeta else {
            throw .location(
                31252, "Cannot use expression other than $meta in exclusion projection")
        }
        if !isMeta { kind = .inclusion }
        let expression = try Expression(.document(document), in: options.variables)
        try insert(.compute(expression), key, below: place)
        return true
    }

    private mutating func readElementMatch(
        _ conditions: BSONValue, _ document: BSONDocument, _ key: String, below place: [String]
    ) throws(StoreError) {
        guard conditions.type == .document else {
            throw .location(
                31274,
                "elemMatch: Invalid argument, object required, but got \(conditions.type.alias)")
        }
        guard !hasPositional else {
            throw .location(31255, "Cannot specify positional operator and $elemMatch.")
        }
        guard try ExpressionPath(key).parts.count == 1, place.isEmpty else {
            throw .location(31275, "Cannot use $elemMatch projection on a nested field.")
        }
        let filter = try options.filter([key: .document(document)])
        try insert(.element(filter), key, below: place)
        hasElementMatch = true
    }

    /// Adds the action of a key below a place and returns the whole path.
    @discardableResult
    private mutating func insert(
        _ action: ProjectionNode.Action, _ key: String, below place: [String]
    ) throws(StoreError) -> [String] {
        let path = try ExpressionPath(key).parts
        guard place.count + path.count <= ExpressionPath.partsMax else {
            throw ExpressionLimits.tooDeep
        }
        try root.insert(action, below: place[...], at: path)
        return place + path
    }
}

extension ProjectionSlice {
    /// Parses `$slice`: a number, or an array of the numbers to skip and to keep.
    ///
    /// - Throws: 31272, 31257, 31258, 31259 and 31273 with MongoDB's text.
    init(_ value: BSONValue) throws(StoreError) {
        if value.isNumber {
            self.init(skip: nil, limit: Self.number(value))
            return
        }
        guard case .array(let array) = value else {
            throw .location(31273, "$slice only supports numbers and [skip, limit] arrays")
        }
        let values = array.values
        guard values.count == 2 else {
            throw .location(31272, "$slice array argument should be of form [skip, limit]")
        }
        guard values[0].isNumber else {
            throw .location(
                31257,
                "$slice expects the skip argument to be a number, got \(values[0].type.alias)")
        }
        guard values[1].isNumber else {
            throw .location(
                31258,
                "$slice expects the limit argument to be a number, got \(values[1].type.alias)")
        }
        let limit = Self.number(values[1])
        guard limit > 0 else {
            throw .location(31259, "$slice limit must be positive, got \(limit)")
        }
        self.init(skip: Self.number(values[0]), limit: limit)
    }

    /// Returns the number without its fraction, clamped to an int32, 0 for NaN.
    private static func number(_ value: BSONValue) -> Int {
        switch value {
        case .double(let number):
            number.isNaN
                ? 0
                : Int(min(max(number, Double(Int32.min)), Double(Int32.max)).rounded(.towardZero))
        case .int32(let number): Int(number)
        case .int64(let number): Int(Int32(clamping: number))
        case .decimal128(let number):
            self.number(.double(number.doubleValue))
        default: 0
        }
    }
}
