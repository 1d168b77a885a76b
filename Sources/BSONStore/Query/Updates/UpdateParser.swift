/// A parser for the operators of an update that follows MongoDB, with its error texts.
///
/// Source: MongoDB manual, "Update Operators"; error texts as in the 7.0 server.
struct UpdateParser {
    private let options: EvaluationOptions
    private var filters: ArrayFilters
    private let root = UpdateTreeBuilder()
    private var isPositional = false

    /// Parses a document of operators.
    ///
    /// - Throws: `failedToParse` (9), `conflictingUpdateOperators` (40) and others with MongoDB's
    ///   text.
    static func parse(
        _ document: BSONDocument, _ filters: ArrayFilters, _ options: EvaluationOptions
    ) throws(StoreError) -> UpdateTree {
        var parser = UpdateParser(options: options, filters: filters)
        for (name, value) in document { try parser.add(name, value) }
        try parser.filters.checkUse(in: document)
        let root = parser.root.fields
        try WorkBudget.check()
        return UpdateTree(
            root: root, isPositional: parser.isPositional, filters: parser.filters)
    }

    private init(options: EvaluationOptions, filters: ArrayFilters) {
        self.options = options
        self.filters = filters
    }

    private mutating func add(_ name: String, _ value: BSONValue) throws(StoreError) {
        guard let name = Operator(rawValue: name) else {
            throw StoreError(
                .failedToParse,
                "Unknown modifier: \(name). Expected a valid update modifier or pipeline-style "
                    + "update specified as an array")
        }
        guard let fields = value.documentValue else {
            throw StoreError(
                .failedToParse,
                "Modifiers operate on fields but we found type \(value.type.alias) instead. "
                    + "For example: {$mod: {<field>: ...}} not {\(name.rawValue): "
                    + "\(ShellText.text(of: value))}")
        }
        for (path, operand) in fields {
            try WorkBudget.spend()
            if name == .rename {
                try addRename(path, operand)
            } else {
                let path = try UpdatePath(path)
                try add(try operation(name, path.description, operand), at: path)
            }
        }
    }

    private mutating func add(
        _ operation: UpdateOperation, at path: UpdatePath
    ) throws(StoreError) {
        if path.isPositional { isPositional = true }
        try root.insert(operation, at: path, &filters)
    }

    private mutating func addRename(
        _ path: String, _ operand: BSONValue
    ) throws(StoreError) {
        let source = try UpdatePath(path)
        try add(.renameSource, at: source)
        let shown = "\(path): \(ShellText.text(of: operand))"
        guard let text = operand.stringValue else {
            throw StoreError(
                .badValue, "The 'to' field for $rename must be a string: \(shown)")
        }
        let target = try UpdatePath(text)
        guard !text.utf8.contains(0) else {
            throw StoreError(
                .badValue, "The 'to' field for $rename cannot contain an embedded null byte")
        }
        guard target != source else {
            throw StoreError(
                .badValue, "The source and target field for $rename must differ: \(shown)")
        }
        guard !target.isPrefix(of: source), !source.isPrefix(of: target) else {
            throw StoreError(
                .badValue,
                "The source and target field for $rename must not be on the same path: \(shown)")
        }
        for (path, role) in [(source, "source"), (target, "destination")] where path.isDynamic {
            throw StoreError(
                .badValue, "The \(role) field for $rename may not be dynamic: \(path)")
        }
        try add(.rename(from: source), at: target)
    }

    private func operation(
        _ name: Operator, _ path: String, _ operand: BSONValue
    ) throws(StoreError) -> UpdateOperation {
        switch name {
        case .set: .set(operand)
        case .setOnInsert: .setOnInsert(operand)
        case .unset, .rename: .unset
        case .increment: .increment(try Self.number(operand, path, "increment"))
        case .multiply: .multiply(try Self.number(operand, path, "multiply"))
        case .least: .least(operand)
        case .greatest: .greatest(operand)
        case .currentDate: .currentDate(asTimestamp: try Self.isTimestamp(operand))
        case .push: .push(try PushParser.parse(operand))
        case .addToSet: .addToSet(try Self.addToSet(operand))
        case .pull: .pull(try pull(operand))
        case .pullAll: .pullAll(try Self.pullAll(operand))
        case .pop: .pop(isFirst: try Self.isFirst(path, operand))
        case .bit: .bit(try Self.bit(operand))
        }
    }

    private func pull(
        _ operand: BSONValue
    ) throws(StoreError) -> UpdateOperation.PullCondition {
        switch operand {
        case .document(let document):
            var elements = document.makeIterator()
            guard let key = elements.next()?.key, Self.conditions.contains(key) else {
                return .documents(try options.filter(document))
            }
            return .passing(try options.filter(["": operand]))
        case .regularExpression: return .passing(try options.filter(["": operand]))
        default: return .equal(operand)
        }
    }

    /// The keys of a filter that are operators on a field rather than names.
    private static let conditions: Set<String> = [
        "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$type",
        "$size", "$mod", "$all", "$elemMatch", "$regex", "$options", "$bitsAllSet",
        "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear", "$geoWithin", "$within", "$geoIntersects",
        "$near", "$nearSphere", "$geoNear",
    ]

    /// The operators by the names in update documents.
    enum Operator: String, CaseIterable {
        case set = "$set"
        case setOnInsert = "$setOnInsert"
        case unset = "$unset"
        case increment = "$inc"
        case multiply = "$mul"
        case least = "$min"
        case greatest = "$max"
        case currentDate = "$currentDate"
        case rename = "$rename"
        case push = "$push"
        case addToSet = "$addToSet"
        case pull = "$pull"
        case pullAll = "$pullAll"
        case pop = "$pop"
        case bit = "$bit"
    }
}
