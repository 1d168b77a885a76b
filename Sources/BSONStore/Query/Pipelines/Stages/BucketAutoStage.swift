/// A stage that groups documents into value ranges of about equal size.
struct BucketAutoStage: PipelineStage {
    private let groupBy: Expression
    private let count: Int
    private let fields: [AccumulatorField]
    private let granularity: Granularity?

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(
                40240,
                "The argument to $bucketAuto must be an object, but found type: "
                    + value.type.alias)
        }
        return [try BucketAutoStage(document, parser)]
    }

    private init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        var groupBy: Expression?
        var count: Int?
        var fields: [AccumulatorField] = []
        var granularity: Granularity?
        for (key, value) in document {
            switch key {
            case "groupBy": groupBy = try Self.groupBy(value, parser)
            case "buckets": count = try Self.count(value)
            case "output": fields = try Self.output(value, parser)
            case "granularity":
                guard case .string(let name) = value else {
                    throw .location(
                        40261,
                        "The $bucketAuto 'granularity' field must be a string, but found type: "
                            + value.type.alias)
                }
                granularity = try Granularity(name)
            default: throw .location(40245, "Unrecognized option to $bucketAuto: \(key)")
            }
        }
        guard let groupBy, let count else {
            throw .location(
                40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
        }
        guard count > 0 else {
            throw .location(
                40243,
                "The $bucketAuto 'buckets' field must be greater than 0, but found: \(count)")
        }
        self.groupBy = groupBy
        self.count = count
        self.fields =
            fields.isEmpty ? [try AccumulatorField("count", ["$sum": 1], parser)] : fields
        self.granularity = granularity
    }

    private static func groupBy(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> Expression {
        switch value {
        case .string(let text) where text.hasBytePrefix("$") && text.utf8.count > 1:
            return try Expression(value, in: parser.scope)
        case .document(let document) where document.keys.first?.hasBytePrefix("$") == true:
            return try Expression(value, in: parser.scope)
        default:
            throw .location(
                40239,
                "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an "
                    + "expression object, but found: \(ShellText.text(of: value))")
        }
    }

    private static func count(_ value: BSONValue) throws(StoreError) -> Int {
        guard let double = NumberCoercion.double(value) else {
            throw .location(
                40241,
                "The $bucketAuto 'buckets' field must be a numeric value, but found type: "
                    + value.type.alias)
        }
        guard let count = value.wholeNumber.flatMap({ Int32(exactly: $0) }) else {
            throw .location(
                40242,
                "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but "
                    + "found \(ExpressionText.number(double))")
        }
        return Int(count)
    }

    private static func output(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [AccumulatorField] {
        guard case .document(let document) = value else {
            throw .location(
                40244,
                "The $bucketAuto 'output' field must be an object, but found type: "
                    + value.type.alias)
        }
        var fields: [AccumulatorField] = []
        for (name, value) in document {
            let field = try AccumulatorField(name, value, parser)
            guard field.accumulator.initial?.constant != .none || field.accumulator.initial == nil
            else { throw .location(4_544_714, "Can't refer to the group key in $bucketAuto") }
            fields.append(field)
        }
        return fields
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        BlockingSink(next, run.memory("$bucketAuto")) { (documents, next) throws(StoreError) in
            var entries: [BucketEntry] = []
            for document in documents {
                try WorkBudget.spend()
                let key = try self.key(of: document, run)
                entries.append(
                    BucketEntry(key: key, bytes: run.key(of: key), document: document))
            }
            let places = entries.indices.sorted { left, right in
                if WorkBudget.isOver() { return false }
                return entries[left].bytes == entries[right].bytes
                    ? left < right
                    : entries[left].bytes.lexicographicallyPrecedes(entries[right].bytes)
            }
            try WorkBudget.check()
            let filling = BucketPartitioner(
                entries: places.map { entries[$0] }, count: count, granularity: granularity)
            for bucket in filling.buckets() {
                guard try next.take(try self.document(bucket, run)) else { return }
            }
        }
    }

    private func key(
        of document: BSONDocument, _ run: PipelineRun
    ) throws(StoreError) -> BSONValue {
        let key = try groupBy.evaluate(document, run.frame(for: document))
        guard granularity != nil else { return key ?? .null }
        guard let key, let number = NumberCoercion.double(key) else {
            throw .location(
                40258,
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a "
                    + "value with type: \(ExpressionText.type(of: key))")
        }
        guard !number.isNaN else {
            throw .location(
                40259,
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a "
                    + "NaN")
        }
        guard number >= 0 else {
            throw .location(
                40260,
                "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found "
                    + "a negative number")
        }
        return key
    }

    private func document(
        _ bucket: Bucket, _ run: PipelineRun
    ) throws(StoreError) -> BSONDocument {
        let range: BSONDocument = ["min": bucket.min, "max": bucket.max]
        var result: BSONDocument = ["_id": .document(range)]
        for field in fields {
            let state = try field.accumulator.start(.null, run)
            var memory = run.memory("$bucketAuto")
            for document in bucket.documents {
                let frame = run.frame(for: document)
                let value = try field.accumulator.argument?.evaluate(document, frame)
                try memory.add(try state.add(value, document))
            }
            result.append(field.name, try state.result() ?? .null)
        }
        return result
    }
}

/// A document with the value that determines its range.
private struct BucketEntry {
    let key: BSONValue
    let bytes: [UInt8]
    let document: BSONDocument
}

/// A range with its documents.
private struct Bucket {
    var min: BSONValue
    var max: BSONValue
    var documents: [BSONDocument]
}

/// A partition of sorted documents into ranges.
private struct BucketPartitioner {
    let entries: [BucketEntry]
    let count: Int
    let granularity: Granularity?

    func buckets() -> [Bucket] {
        let size = max(1, Int((Double(entries.count) / Double(count)).rounded()))
        var buckets: [Bucket] = []
        var next = 0
        while next < entries.count, buckets.count < count {
            let isLast = buckets.count == count - 1
            let end =
                isLast || entries.count - next <= size ? entries.count : next + size
            let start = next
            next = end
            buckets.append(bucket(start, &next, after: buckets.last))
        }
        return buckets
    }

    /// Returns the range of the entries between two places, extended by later entries that belong
    /// to it.
    private func bucket(_ start: Int, _ end: inout Int, after last: Bucket?) -> Bucket {
        var lower = entries[start].key
        if let granularity { lower = last?.max ?? granularity.roundDown(lower) }
        var upper = entries[end - 1].key
        if let granularity {
            let boundary = granularity.roundUp(upper)
            while end < entries.count,
                BSONOrder.compare(boundary, entries[end].key) == .greater
                    || entries[end].bytes == entries[end - 1].bytes
            {
                end += 1
            }
            let isZero = BSONOrder.compare(boundary, .int32(0)) == .equal
            upper =
                isZero && end < entries.count
                ? granularity.roundDown(entries[end].key) : boundary
        } else {
            while end < entries.count, entries[end].bytes == entries[end - 1].bytes { end += 1 }
            if end < entries.count { upper = entries[end].key }
        }
        return Bucket(
            min: lower, max: upper, documents: entries[start..<end].map(\.document))
    }
}
