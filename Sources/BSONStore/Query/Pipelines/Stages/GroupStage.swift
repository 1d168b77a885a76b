/// A stage that returns one document for all documents with the same key.
///
/// Keys are the same if MongoDB compares them as equal: `1` equals `1.0`, and a missing key is
/// null. The groups are in the order of their first documents; MongoDB leaves it open.
struct GroupStage: PipelineStage {
    let key: Expression
    private(set) var fields: [AccumulatorField]
    /// The ranges that replace the values of the key, for `$bucket`.
    var ranges: BucketRanges?
    /// Whether no stage before computes anything, so that MongoDB's query engine groups.
    private(set) var isOfQuery = false

    init(key: Expression, fields: [AccumulatorField], ranges: BucketRanges? = nil) {
        self.key = key
        self.fields = fields
        self.ranges = ranges
    }

    /// The stage as MongoDB's query engine computes it: of equal values it keeps the last one.
    ///
    /// Source: the server's `exec/sbe/vm/vm.cpp`, `aggMin` and `aggMax`.
    var ofQuery: GroupStage {
        var stage = self
        stage.isOfQuery = true
        stage.fields = fields.map(\.keepingLast)
        return stage
    }

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(15947, "a group's fields must be specified in an object")
        }
        var key: Expression?
        var fields: [AccumulatorField] = []
        for (name, value) in document {
            if name == "_id" {
                guard key == nil else {
                    throw .location(15948, "a group's _id may only be specified once")
                }
                key = try self.key(value, parser)
            } else if name == "$doingMerge" {
                guard case .bool(true) = value else {
                    throw .location(17030, "$doingMerge should be true if present")
                }
                throw StoreError(
                    .unauthorized, "Setting '$doingMerge' is not allowed in user requests")
            } else {
                fields.append(try AccumulatorField(name, value, parser))
            }
        }
        guard let key else {
            throw .location(15955, "a group specification must include an _id")
        }
        let stage = GroupStage(key: key, fields: fields)
        return [CountGroupStage(stage) ?? stage]
    }

    private static func key(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> Expression {
        guard case .document(let document) = value, let name = document.keys.first,
            !name.hasBytePrefix("$")
        else { return try Expression(value, in: parser.scope) }
        for case (_, let value) in document {
            switch value {
            case .double, .bool, .int32, .int64, .decimal128:
                throw .location(
                    17390, "$group does not support inclusion-style expressions")
            default: continue
            }
        }
        let key = try Expression(value, in: parser.scope)
        return document.count == 1 ? key.withNullForMissing(at: name) : key
    }

    /// Parses `$sortByCount`, which is a group followed by a sort.
    static func parseSortByCount(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        switch value {
        case .document(let document):
            guard document.keys.first?.hasBytePrefix("$") == true else {
                throw .location(
                    40147,
                    "the sortByCount field must be defined as a $-prefixed path or an expression "
                        + "inside an object")
            }
        case .string(let text):
            guard text.hasBytePrefix("$") else {
                throw .location(
                    40148,
                    "the sortByCount field must be defined as a $-prefixed path or an expression "
                        + "inside an object")
            }
        default:
            throw .location(
                40149, "the sortByCount field must be specified as a string or as an object")
        }
        let count = try AccumulatorField("count", ["$sum": 1], parser)
        let group = GroupStage(
            key: try Expression(value, in: parser.scope), fields: [count])
        let order = try SortStage.order(["count": -1], parser)
        return [group, SortStage(order: order)]
    }

    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        if let fault = ranges?.fault { throw fault }
        return GroupingSink(next, self, run)
    }
}

/// A sink that collects the groups until the last document.
final class GroupingSink: PipelineSink {
    private final class Group {
        let key: BSONValue
        var states: [AccumulatorState]

        init(key: BSONValue, states: [AccumulatorState]) {
            self.key = key
            self.states = states
        }
    }

    private let next: any PipelineSink
    private let stage: GroupStage
    private let run: PipelineRun
    private var groups: [[UInt8]: Int] = [:]
    private var ordered: [Group] = []
    private var memory: PipelineMemory

    init(_ next: any PipelineSink, _ stage: GroupStage, _ run: PipelineRun) {
        self.next = next
        self.stage = stage
        self.run = run
        memory = run.memory("$group")
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try add(document)
        } catch {
            throw stage.isOfQuery ? Self.ofQuery(error) : error
        }
        return true
    }

    /// Returns the error with the code that MongoDB's query engine has for it.
    private static func ofQuery(_ error: StoreError) -> StoreError {
        var error = error
        switch error.code.rawValue {
        case ExpressionMath.divisionByZero.code.rawValue
        where error.message == ExpressionMath.divisionByZero.message:
            error.code = StoreError.location(4_848_401, "").code
        case 16610, 5_733_415: error.code = StoreError.location(4_848_403, "").code
        case 5_787_902, 5_787_903, 5_787_908: error.code = StoreError.location(7_548_606, "").code
        default: break
        }
        return error
    }

    private func add(_ document: BSONDocument) throws(StoreError) {
        let frame = run.frame(for: document)
        let value = try stage.key.evaluate(document, frame)
        let group = try group(for: try stage.ranges?.lower(of: value, run) ?? value ?? .null)
        let many = stage.fields.count > IndexedDocument.searchesMax
        let fields = many ? IndexedDocument(document) : nil
        for (index, field) in stage.fields.enumerated() {
            let value = try field.accumulator.argument?.evaluate(document, frame, fields)
            let growth = try group.states[index].add(value, document)
            if growth != 0 { try memory.add(growth) }
        }
    }

    private func group(for key: BSONValue) throws(StoreError) -> Group {
        let bytes = run.key(of: key)
        if let known = groups[bytes] { return ordered[known] }
        try memory.add(bytes.count * 2 + 64 + stage.fields.count * 64)
        var states: [AccumulatorState] = []
        for field in stage.fields { states.append(try field.accumulator.start(key, run)) }
        let group = Group(key: key.compacted(), states: states)
        groups[bytes] = ordered.count
        ordered.append(group)
        return group
    }

    func finish() throws(StoreError) {
        groups = [:]
        for group in ordered {
            var document: BSONDocument = ["_id": group.key]
            for (index, field) in stage.fields.enumerated() {
                try WorkBudget.spend()
                document.append(field.name, try group.states[index].result() ?? .null)
            }
            guard try next.take(document) else { break }
        }
        ordered = []
        try next.finish()
    }
}

/// A stage that only counts all documents, as drivers do.
struct CountGroupStage: CountingStage {
    private let key: BSONValue
    private let fields: [(name: String, number: BSONValue?)]

    /// Converts a group whose key and sums do not depend on the documents; `nil` for others.
    init?(_ stage: GroupStage) {
        guard let key = stage.key.constant else { return nil }
        var fields: [(name: String, number: BSONValue?)] = []
        for field in stage.fields {
            if field.accumulator.name == "$count" {
                fields.append((field.name, nil))
            } else if case .int32? = field.accumulator.constantSum {
                fields.append((field.name, field.accumulator.constantSum))
            } else {
                return nil
            }
        }
        self.key = key ?? .null
        self.fields = fields
    }

    func document(of count: Int, _: PipelineRun) -> BSONDocument? {
        guard count > 0 else { return nil }
        var document: BSONDocument = ["_id": key]
        for field in fields {
            guard case .int32(let number)? = field.number else {
                document.append(field.name, .count(count))
                continue
            }
            let (product, overflow) = Int64(count).multipliedReportingOverflow(by: Int64(number))
            document.append(
                field.name,
                overflow ? .double(Double(count) * Double(number)) : .count(Int(product)))
        }
        return document
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        CountingSink(next, self, run)
    }
}
