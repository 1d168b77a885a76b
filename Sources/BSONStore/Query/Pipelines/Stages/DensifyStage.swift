/// A stage that adds documents to fill gaps in a series of numbers or dates.
///
/// Source: MongoDB manual, "$densify (aggregation)".
struct DensifyStage: PipelineStage {
    /// The range of the series.
    enum Bounds: Sendable {
        /// From the least to the greatest value of all documents.
        case full
        /// From the least to the greatest value of each partition.
        case partition
        /// From a value up to another, exclusively.
        case explicit(BSONValue, BSONValue)
    }

    /// The maximum number of added documents.
    static let generatedDocumentsMax = 500_000

    let path: [String]
    let partitions: [[String]]
    let step: BSONValue
    let unit: WindowUnit?
    let bounds: Bounds
    let order: SortOrder

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw StoreError(
                .failedToParse,
                "The $densify stage specification must be an object, found \(value.type.alias)")
        }
        return [try DensifyStage(document, parser)]
    }

    private init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        let fields = try StageArguments(
            "$densify", document, known: ["field", "partitionByFields", "range"])
        _ = try fields.required("field")
        _ = try fields.required("range")
        path = try ExpressionPath(try fields.string("field") ?? "").parts
        var partitions: [[String]] = []
        for value in try fields.array("partitionByFields") ?? BSONArray() {
            guard case .string(let text) = value else {
                throw fields.wrongType("partitionByFields", value, "string")
            }
            let partition = try ExpressionPath(text).parts
            try Self.requireSeparate(partition, from: path)
            partitions.append(partition)
        }
        self.partitions = partitions
        let range = try StageArguments(
            "$densify.range", try fields.document("range") ?? BSONDocument(),
            known: ["step", "unit", "bounds"])
        step = try range.required("step")
        guard BSONNumber(step) != nil else {
            throw StoreError(
                .typeMismatch,
                "BSON field '$densify.range.step' is the wrong type '\(step.type.alias)', expected "
                    + "types '[int, decimal, double, long']")
        }
        guard BSONNumber(step) != nil, BSONOrder.compare(step, .int32(0)) == .greater else {
            throw .location(
                5_733_401,
                "The step parameter in a range statement must be a strictly positive numeric value")
        }
        unit = try Self.unit(range, step)
        bounds = try Self.bounds(try range.required("bounds"), step, unit)
        if case .partition = bounds, partitions.isEmpty {
            throw .location(
                5_733_408,
                "One cannot specify the bounds as 'partition' without specifying a non-empty array "
                    + "of partitionByFields. You may have meant to specify 'full' bounds.")
        }
        var sortedBy = [path]
        if case .full = bounds {} else { sortedBy = partitions + sortedBy }
        let keys = sortedBy.map { ($0.joined(separator: "."), BSONValue.int32(1)) }
        order = try SortOrder(BSONDocument(keys), collation: parser.collation)
    }

    /// Throws if a field of the partitions is the densified field, is inside it or holds it.
    private static func requireSeparate(
        _ partition: [String], from field: [String]
    ) throws(StoreError) {
        let shared = zip(partition, field).prefix { $0.hasSameBytes(as: $1) }.count
        if shared == field.count {
            throw .location(
                8_993_000,
                "BSON field '$densify.partitionByFields' contains the field that is being "
                    + "densified")
        }
        if shared == partition.count {
            throw .location(
                9_554_500,
                "The field that is being densified contains the BSON field "
                    + "'$densify.partitionByFields'")
        }
    }

    private static func unit(
        _ range: StageArguments, _ step: BSONValue
    ) throws(StoreError) -> WindowUnit? {
        guard let name = try range.string("unit") else { return nil }
        guard step.wholeNumber != nil else {
            throw .location(
                6_586_400,
                "The step parameter in a range statement must be a whole number when densifying a "
                    + "date range")
        }
        return try WindowUnit(named: name)
    }

    private static func bounds(
        _ value: BSONValue, _ step: BSONValue, _ unit: WindowUnit?
    ) throws(StoreError) -> Bounds {
        switch value {
        case .string("full"): return .full
        case .string("partition"): return .partition
        case .string:
            throw .location(
                5_946_802, "Bounds string must either be 'full' or 'partition'")
        case .array(let array):
            let values = array.values
            guard values.count == 2 else {
                throw .location(
                    5_733_403,
                    "A bounding array in a range statement must have exactly two elements")
            }
            try check(values[0], values[1], step, unit)
            return .explicit(values[0], values[1])
        default:
            throw .location(
                5_733_404,
                "The bounds in a range statement must be the string 'full', 'partition', or an "
                    + "ascending array of two numbers or two dates")
        }
    }

    private static func check(
        _ lower: BSONValue, _ upper: BSONValue, _ step: BSONValue, _ unit: WindowUnit?
    ) throws(StoreError) {
        guard BSONOrder.compare(lower, upper) != .greater else {
            throw .location(
                5_733_402,
                "A bounding array must be an ascending array of either two dates or two numbers")
        }
        let mixed =
            "A bounding array must contain either both dates or both numeric types"
        if BSONNumber(lower) != nil {
            guard unit == nil else {
                throw .location(5_733_409, "Numeric bounds may not have unit parameter")
            }
            guard BSONNumber(upper) != nil else { throw .location(5_733_406, mixed) }
            guard lower.type == upper.type, lower.type == step.type else {
                throw .location(
                    5_876_900,
                    "Upper bound, lower bound, and step must all have the same type")
            }
        } else if lower.type == .datetime {
            guard upper.type == .datetime else { throw .location(5_733_405, mixed) }
            guard unit != nil else {
                throw .location(5_733_410, "A bounding array of dates must specify a unit")
            }
        } else {
            throw .location(5_946_800, "Explicit bounds must be numeric or dates")
        }
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        let flush = BlockingSink(next, run.memory("$densify")) {
            (documents, next) throws(StoreError) in
            var densifying = Densifier(stage: self, run: run, next: next)
            try densifying.run(documents)
        }
        return SortingSink(flush, order, 0, run)
    }
}

/// The densification of sorted documents.
private struct Densifier {
    let stage: DensifyStage
    let run: PipelineRun
    let next: any PipelineSink
    private var series: [[UInt8]: Int] = [:]
    private var ordered: [Series] = []
    private var least: BSONValue?
    private var greatest: BSONValue?
    private var added = 0
    private var wantsMore = true

    /// The state of one partition.
    private struct Series {
        let fields: BSONDocument
        /// The next expected value.
        var expected: BSONValue?
    }

    init(stage: DensifyStage, run: PipelineRun, next: any PipelineSink) {
        self.stage = stage
        self.run = run
        self.next = next
    }

    mutating func run(_ documents: [BSONDocument]) throws(StoreError) {
        for document in documents {
            try WorkBudget.spend(1 + stage.partitions.count)
            try take(document)
            guard wantsMore else { return }
        }
        if case .explicit = stage.bounds, stage.partitions.isEmpty, ordered.isEmpty {
            ordered.append(Series(fields: BSONDocument(), expected: start(nil)))
        }
        for place in ordered.indices {
            switch stage.bounds {
            case .full:
                if !stage.partitions.isEmpty, let greatest {
                    try add(to: place, upTo: greatest, isIncluded: true)
                }
            case .partition: continue
            case .explicit(_, let upper): try add(to: place, upTo: upper, isIncluded: false)
            }
        }
    }

    private mutating func take(_ document: BSONDocument) throws(StoreError) {
        guard let value = NestedField.value(stage.path, in: document), !value.isNullish else {
            wantsMore = try next.take(document)
            return
        }
        try check(value)
        least = least ?? value
        greatest = value
        let place = place(of: document, value)
        var end = value
        if case .explicit(_, let upper) = stage.bounds,
            BSONOrder.compare(upper, value) == .less
        {
            end = upper
        }
        try add(to: place, upTo: end, isIncluded: false)
        if let expected = ordered[place].expected,
            BSONOrder.compare(expected, value) == .equal
        {
            ordered[place].expected = following(expected)
        }
        if wantsMore { wantsMore = try next.take(document) }
    }

    private func check(_ value: BSONValue) throws(StoreError) {
        if BSONNumber(value) != nil {
            guard stage.unit == nil else {
                throw .location(
                    6_053_600,
                    "Encountered numeric densify value in collection when step has a date unit.")
            }
        } else if value.type == .datetime {
            guard stage.unit != nil else {
                throw .location(
                    6_053_600,
                    "Encountered date densify value in collection when step does not have a date "
                        + "unit.")
            }
        } else {
            throw .location(
                5_733_201, "Densify field type must be numeric or a date")
        }
    }

    /// Returns the index of the document's partition.
    private mutating func place(of document: BSONDocument, _ value: BSONValue) -> Int {
        var fields = BSONDocument()
        for path in stage.partitions {
            guard let value = NestedField.value(path, in: document) else { continue }
            fields = NestedField.setting(path, to: value, in: fields)
        }
        let key = run.key(of: .document(fields))
        if let known = series[key] { return known }
        series[key] = ordered.count
        ordered.append(Series(fields: fields, expected: start(value)))
        return ordered.count - 1
    }

    /// Returns the first expected value in a partition that begins with a value.
    private func start(_ value: BSONValue?) -> BSONValue? {
        switch stage.bounds {
        case .full: least ?? value
        case .partition: value
        case .explicit(let lower, _): lower
        }
    }

    private func following(_ value: BSONValue) -> BSONValue? {
        guard let unit = stage.unit, case .datetime(let date) = value else {
            return BSONArithmetic.add(value, stage.step)
        }
        return stage.step.wholeNumber.flatMap { unit.adding($0, to: date) }
            .map { .datetime($0) }
    }

    /// Adds the missing documents before a value.
    private mutating func add(
        to place: Int, upTo end: BSONValue, isIncluded: Bool
    ) throws(StoreError) {
        while wantsMore, let expected = ordered[place].expected {
            try WorkBudget.spend()
            let order = BSONOrder.compare(expected, end)
            guard order == .less || (isIncluded && order == .equal) else { return }
            added += 1
            guard added <= DensifyStage.generatedDocumentsMax else {
                throw .location(
                    5_897_900,
                    "Generated \(added) documents in $densify, which is over the limit of "
                        + "\(DensifyStage.generatedDocumentsMax). Increase the "
                        + "'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated "
                        + "documents")
            }
            try checkPath(ordered[place].fields)
            let document = NestedField.setting(
                stage.path, to: expected, in: ordered[place].fields)
            wantsMore = try next.take(document)
            let following = following(expected)
            // Adding too small a number to a double does not change it.
            let grows = following.map { BSONOrder.compare($0, expected) == .greater } ?? false
            ordered[place].expected = grows ? following : nil
        }
    }

    private func checkPath(_ fields: BSONDocument) throws(StoreError) {
        var value: BSONValue? = .document(fields)
        for part in stage.path {
            if case .array? = value {
                throw .location(
                    5_733_307, "$densify cannot generate fields nested inside arrays")
            }
            guard let current = value else { return }
            guard case .document(let document) = current else {
                throw .location(
                    5_733_308, "$densify cannot overwrite non-object values with objects")
            }
            value = document[part]
        }
    }
}
