/// A stage that groups documents by the given range in which a value lies.
struct BucketStage {
    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(
                40201,
                "Argument to $bucket stage must be an object, but found type: "
                    + "\(value.type.alias).")
        }
        var parsing = BucketParser(parser: parser)
        for (key, value) in document { try parsing.read(key, value) }
        return try parsing.stages()
    }
}

/// The ranges of values.
struct BucketRanges: Sendable {
    let boundaries: [BSONValue]
    /// The key for values outside of all ranges.
    let other: BSONValue?
    /// The error of texts that are in no order by their bytes, unless the collection's collation
    /// orders them.
    var fault: StoreError?

    /// Returns the lower boundary of the value's range.
    ///
    /// - Throws: 40066 if it lies in none and there is no default.
    func lower(of value: BSONValue?, _ run: PipelineRun) throws(StoreError) -> BSONValue {
        let value = value ?? .undefined
        let place = boundaries.insertionPlace { run.compare($0, value) == .greater }
        if place > 0, place < boundaries.count { return boundaries[place - 1] }
        guard let other else {
            throw .location(
                40066,
                "$switch could not find a matching branch for an input, and no default was "
                    + "specified.")
        }
        return other
    }
}

private struct BucketParser {
    let parser: PipelineParser
    private var groupBy: Expression?
    private var boundaries: [BSONValue] = []
    private var other: BSONValue?
    private var fields: [AccumulatorField]?
    private var fault: StoreError?

    init(parser: PipelineParser) { self.parser = parser }

    mutating func read(_ key: String, _ value: BSONValue) throws(StoreError) {
        switch key {
        case "groupBy": try readGroupBy(value)
        case "boundaries": try readBoundaries(value)
        case "default":
            guard let constant = try Expression(value, in: parser.scope).constant else {
                throw .location(
                    40195,
                    "The $bucket 'default' field must be a constant expression, but found: "
                        + "\(ShellText.text(of: value)).")
            }
            other = constant ?? .null
        case "output":
            guard case .document(let document) = value else {
                throw .location(
                    40196,
                    "The $bucket 'output' field must be an object, but found type: "
                        + "\(value.type.alias).")
            }
            var fields: [AccumulatorField] = []
            for (name, value) in document {
                fields.append(try AccumulatorField(name, value, parser))
            }
            self.fields = fields
        default: throw .location(40197, "Unrecognized option to $bucket: \(key).")
        }
    }

    private mutating func readGroupBy(_ value: BSONValue) throws(StoreError) {
        let isExpression =
            switch value {
            case .string(let text): text.hasBytePrefix("$")
            case .document(let document): document.keys.first?.hasBytePrefix("$") == true
            default: false
            }
        guard isExpression else {
            throw .location(
                40202,
                "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, "
                    + "but found: \(ShellText.text(of: value)).")
        }
        groupBy = try Expression(value, in: parser.scope)
    }

    private mutating func readBoundaries(_ value: BSONValue) throws(StoreError) {
        guard case .array(let array) = value else {
            throw .location(
                40200,
                "The $bucket 'boundaries' field must be an array, but found type: "
                    + "\(value.type.alias).")
        }
        for value in array {
            guard let constant = try Expression(value, in: parser.scope).constant else {
                throw .location(
                    40191,
                    "The $bucket 'boundaries' field must be an array of constant values, but found "
                        + "value: \(ShellText.text(of: value)).")
            }
            boundaries.append(constant ?? .null)
        }
        guard boundaries.count >= 2 else {
            throw .location(
                40192,
                "The $bucket 'boundaries' field must have at least 2 values, but found "
                    + "\(boundaries.count) value(s).")
        }
        for index in 1..<boundaries.count {
            let checked = self
            try unlessInherited(boundaries[index]) { () throws(StoreError) in
                try checked.check(index)
            }
        }
    }

    /// Checks the order of boundaries.
    ///
    /// The error about a text is kept if the pipeline has no collation: that of the collection may
    /// order texts otherwise.
    private mutating func unlessInherited(
        _ value: BSONValue, _ check: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try check()
        } catch {
            guard parser.collation == nil, case .string = value else { throw error }
            fault = fault ?? error
        }
    }

    private func check(_ index: Int) throws(StoreError) {
        let (lower, upper) = (boundaries[index - 1], boundaries[index])
        guard BSONOrder.rank(lower.type) == BSONOrder.rank(upper.type) else {
            throw .location(
                40193,
                "All values in the the 'boundaries' option to $bucket must have the same type. "
                    + "Found conflicting types \(lower.type.alias) and \(upper.type.alias).")
        }
        guard compare(lower, upper) == .less else {
            throw .location(
                40194,
                "The 'boundaries' option to $bucket must be sorted, but elements \(index - 1) and "
                    + "\(index) are not in ascending order (\(ExpressionText.text(of: lower)) is not "
                    + "less than \(ExpressionText.text(of: upper))).")
        }
    }

    private func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        guard let collation = parser.collation else { return BSONOrder.compare(left, right) }
        return BSONOrder.compare(collation.key(left), collation.key(right))
    }

    mutating func stages() throws(StoreError) -> [any PipelineStage] {
        guard let groupBy, let lower = boundaries.first, let upper = boundaries.last else {
            throw .location(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
        }
        if let other, BSONOrder.rank(other.type) == BSONOrder.rank(lower.type) {
            let isInside = compare(other, lower) != .less && compare(other, upper) == .less
            try unlessInherited(other) { () throws(StoreError) in
                guard isInside else { return }
                throw .location(
                    40199,
                    "The $bucket 'default' field must be less than the lowest boundary or greater "
                        + "than or equal to the highest boundary.")
            }
        }
        var fields = fields ?? []
        if self.fields == nil {
            fields = [try AccumulatorField("count", ["$sum": 1], parser)]
        }
        let ranges = BucketRanges(boundaries: boundaries, other: other, fault: fault)
        let group = GroupStage(key: groupBy, fields: fields, ranges: ranges)
        return [group, SortStage(order: try SortStage.order(["_id": 1], parser))]
    }
}
