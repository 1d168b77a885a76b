extension AggregationProjection {
    /// Parses the argument of `$project`: inclusion or exclusion, with computed fields in an
    /// inclusion.
    ///
    /// - Throws: 31253, 31254, 31252 and 31310 for a mixture of both, 31249 and 31250 for paths
    ///   that collide, 51272 and 51270 for empty documents, with MongoDB's text.
    init(
        project document: BSONDocument, in scope: ExpressionScope
    ) throws(StoreError) {
        guard !document.isEmpty else {
            throw StoreError(
                .emptyProjection,
                "projection specification must have at least one field")
        }
        var parsing = ProjectionFieldParser(scope: scope)
        for (key, value) in document {
            try WorkBudget.spend()
            if key == "_id" || key.hasBytePrefix("_id.") { parsing.namesID = true }
            try parsing.read(key, value, below: [])
        }
        self = parsing.projection()
    }

    /// Parses the argument of `$addFields`: fields with expressions.
    ///
    /// - Throws: 40176, 40181, 40183 and others with MongoDB's text.
    init(
        adding document: BSONDocument, in scope: ExpressionScope
    ) throws(StoreError) {
        var parsing = AddFieldsParser(whole: document, scope: scope)
        var root = Node()
        for (key, value) in document {
            let path = try ExpressionPath(key).parts
            try parsing.check(value, path)
        }
        for (key, value) in document {
            try parsing.read(value, at: try ExpressionPath(key).parts, into: &root)
        }
        self.init(kind: .addition, root: root)
    }

    /// Creates a projection that removes the fields at the given paths.
    ///
    /// - Throws: 31249 and 31250 for paths that collide, and the errors of invalid paths.
    init(removing paths: [String]) throws(StoreError) {
        var root = Node()
        for path in paths {
            try WorkBudget.spend()
            try root.insert(.choose, at: try ExpressionPath(path).parts[...], path)
        }
        self.init(kind: .exclusion, root: root)
    }
}

/// A parser for a projection's fields that determines its kind.
private struct ProjectionFieldParser {
    let scope: ExpressionScope
    var namesID = false
    private var root = AggregationProjection.Node()
    private var kind: AggregationProjection.Kind?
    private var includesID = false
    private var excludesID = false
    private var addsMetadata = false

    init(scope: ExpressionScope) { self.scope = scope }

    /// Returns the parsed projection.
    func projection() -> AggregationProjection {
        var root = root
        let kind = kind ?? (includesID || addsMetadata ? .inclusion : .exclusion)
        if kind == .inclusion, !namesID { root.includeID() }
        if kind == .inclusion, excludesID { root.removeID() }
        if kind == .exclusion, includesID { root.removeID() }
        return AggregationProjection(kind: kind, root: root)
    }

    mutating func read(
        _ key: String, _ value: BSONValue, below path: [String]
    ) throws(StoreError) {
        guard path.count < ExpressionLimits.depthMax else { throw ExpressionLimits.tooDeep }
        guard !key.hasByteSuffix(".$"), !key.contains(".$.") else {
            throw .location(
                31324, "Cannot use positional projection in aggregation projection")
        }
        switch value {
        case .document(let document): try read(document, key, below: path)
        case .double, .bool, .int32, .int64, .decimal128:
            try choose(key, PredicateParser.isTrue(value), below: path)
        default:
            try insert(.compute(try Expression(value, in: scope)), key, path)
            guard kind != .exclusion else {
                throw .location(
                    31310,
                    "Cannot use an expression \(key): \(ShellText.text(of: value)) in an exclusion "
                        + "projection")
            }
            kind = .inclusion
        }
    }

    private mutating func choose(
        _ key: String, _ isIncluded: Bool, below path: [String]
    ) throws(StoreError) {
        try insert(.choose, key, path)
        if key == "_id", path.isEmpty {
            if isIncluded { includesID = true } else { excludesID = true }
            return
        }
        let wanted: AggregationProjection.Kind = isIncluded ? .inclusion : .exclusion
        guard kind == nil || kind == wanted else {
            throw isIncluded
                ? StoreError.location(
                    31253, "Cannot do inclusion on field \(key) in exclusion projection")
                : StoreError.location(
                    31254, "Cannot do exclusion on field \(key) in inclusion projection")
        }
        kind = wanted
    }

    private mutating func read(
        _ document: BSONDocument, _ key: String, below path: [String]
    ) throws(StoreError) {
        let keys = document.keys
        if keys.count == 1, keys[0].hasBytePrefix("$") {
            guard keys[0] != "$elemMatch" else {
                throw StoreError(.invalidPipelineOperator, "Cannot use $elemMatch in this context")
            }
            guard ExpressionOperator.all[keys[0]] != nil else {
                throw .location(31325, "Unknown expression \(keys[0])")
            }
            // As in MongoDB, a projection of either kind may add metadata.
            if keys[0] == "$meta" {
                addsMetadata = true
            } else {
                guard kind != .exclusion else {
                    throw .location(
                        31252, "Cannot use expression other than $meta in exclusion projection")
                }
                kind = .inclusion
            }
            return try insert(.compute(try Expression(.document(document), in: scope)), key, path)
        }
        guard !document.isEmpty else {
            throw .location(
                51270,
                "An empty sub-projection is not a valid value. Found empty object at path")
        }
        let here = path + (try ExpressionPath(key).parts)
        for (key, value) in document { try read(key, value, below: here) }
    }

    private mutating func insert(
        _ action: AggregationProjection.Action, _ key: String, _ path: [String]
    ) throws(StoreError) {
        let whole = path + (try ExpressionPath(key).parts)
        guard whole.count <= ExpressionPath.partsMax else { throw ExpressionLimits.tooDeep }
        try root.insert(action, at: whole[...], whole.joined(separator: "."))
    }
}

/// A parser for the fields of `$addFields`.
private struct AddFieldsParser {
    let whole: BSONDocument
    let scope: ExpressionScope
    private var paths = DistinctPaths()

    init(whole: BSONDocument, scope: ExpressionScope) {
        self.whole = whole
        self.scope = scope
    }

    /// Checks for conflicting paths before any expression is parsed.
    mutating func check(_ value: BSONValue, _ path: [String]) throws(StoreError) {
        guard path.count <= ExpressionPath.partsMax else { throw ExpressionLimits.tooDeep }
        guard case .document(let document) = value, !document.isEmpty else {
            return try note(path)
        }
        for (key, value) in document {
            if key.hasBytePrefix("$") {
                guard document.count == 1 else {
                    throw .location(
                        40181,
                        "an expression specification must contain exactly one field, the name of "
                            + "the expression. Found \(document.count) fields in "
                            + "\(ShellText.text(of: document)), while parsing object "
                            + ShellText.text(of: whole))
                }
                return try note(path)
            }
            guard !key.contains(".") else {
                throw .location(
                    40183,
                    "cannot use dotted field name '\(key)' in a sub object: "
                        + ShellText.text(of: whole))
            }
            try ExpressionPath.validate(fieldName: key)
            try check(value, path + [key])
        }
    }

    private mutating func note(_ path: [String]) throws(StoreError) {
        if let clash = try paths.clash(with: path) {
            throw .location(
                40176,
                "specification contains two conflicting paths. Cannot specify both "
                    + "'\(path.joined(separator: "."))' and "
                    + "'\(clash)': \(ShellText.text(of: whole))")
        }
    }

    func read(
        _ value: BSONValue, at path: [String], into root: inout AggregationProjection.Node
    ) throws(StoreError) {
        if case .document(let document) = value, let first = document.keys.first,
            !first.hasBytePrefix("$")
        {
            for (key, value) in document { try read(value, at: path + [key], into: &root) }
            return
        }
        let expression = try Expression(value, in: scope)
        try root.insert(.compute(expression), at: path[...], path.joined(separator: "."))
    }
}
