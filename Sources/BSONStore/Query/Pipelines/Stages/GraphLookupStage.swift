/// A stage that adds an array of the documents connected with a document, directly or indirectly.
///
/// The array is ordered by distance, then by the order of the collection; MongoDB leaves it open.
struct GraphLookupStage: PipelineStage {
    private var from = ""
    private var field: [String] = []
    private var startWith: Expression?
    private var connectFrom: [String] = []
    private var connectTo = ""
    private var depthField: [String]?
    private var depthMax: Int64?
    private var restriction: Filter?
    private let parser: PipelineParser

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw StoreError(
                .failedToParse,
                "the $graphLookup stage specification must be an object, but found "
                    + value.type.alias)
        }
        return [try GraphLookupStage(document, parser)]
    }

    private init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        self.parser = parser
        guard let from = document["from"] else {
            throw StoreError(
                .failedToParse,
                "missing 'from' option to $graphLookup stage specification: "
                    + ShellText.text(of: document))
        }
        guard case .string(let name) = from else {
            throw StoreError(
                .failedToParse,
                "$graphLookup 'from' field must be a string, but found \(from.type.alias)")
        }
        guard !name.isEmpty else {
            throw StoreError(.invalidNamespace, "$graphLookup 'from' field must not be empty")
        }
        for (key, value) in document { try read(key, value) }
        guard !self.from.isEmpty, !field.isEmpty, startWith != nil, !connectFrom.isEmpty,
            !connectTo.isEmpty
        else {
            throw .location(
                40105,
                "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and "
                    + "'connectToField' to be specified.")
        }
    }

    private mutating func read(_ key: String, _ value: BSONValue) throws(StoreError) {
        switch key {
        case "startWith": startWith = try Expression(value, in: parser.scope)
        case "maxDepth": depthMax = try Self.depthMax(value)
        case "restrictSearchWithMatch":
            guard case .document(let document) = value else {
                throw .location(
                    40185,
                    "restrictSearchWithMatch must be an object, found \(value.type.alias)")
            }
            let filter = try parser.filter(document)
            guard !filter.waitsForText else {
                throw StoreError(.badValue, "cannot use $text inside $graphLookup")
            }
            restriction = filter
        case "from", "as", "connectFromField", "connectToField", "depthField":
            guard case .string(let text) = value else {
                throw .location(
                    40103,
                    "expected string as argument for \(key), found: \(value.type.alias)")
            }
            try read(key, text: text)
        default: throw .location(40104, "Unknown argument to $graphLookup: \(key)")
        }
    }

    private mutating func read(_ key: String, text: String) throws(StoreError) {
        if text.isEmpty, key != "depthField" { return }
        switch key {
        case "from": from = text
        case "as": field = try ExpressionPath(text).parts
        case "connectFromField": connectFrom = try ExpressionPath(text).parts
        case "connectToField":
            _ = try ExpressionPath(text)
            connectTo = text
        default: depthField = try ExpressionPath(text).parts
        }
    }

    private static func depthMax(_ value: BSONValue) throws(StoreError) -> Int64 {
        guard let double = NumberCoercion.double(value) else {
            throw .location(
                40100, "maxDepth must be numeric, found type: \(value.type.alias)")
        }
        let cut = value.truncatedNumber ?? (double > 0 ? .max : 0)
        guard cut >= 0 else {
            throw .location(40101, "maxDepth requires a nonnegative argument, found: \(cut)")
        }
        guard value.wholeNumber != nil else {
            throw .location(40102, "maxDepth could not be represented as a long long: \(cut)")
        }
        return cut
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        let nested = run.nested(
            on: Namespace(run.namespace.database, from), collation: run.collation)
        let join = EqualityJoin(
            nested, field: connectTo, restriction: restriction, parser)
        return MappingSink(next) { (document) throws(StoreError) in
            let found = try search(from: document, join, run)
            return NestedField.setting(field, to: .array(BSONArray(found)), in: document)
        }
    }

    private func search(
        from document: BSONDocument, _ join: EqualityJoin, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue] {
        let start = try startWith?.evaluate(document, run.frame(for: document))
        var frontier = start.map { $0.arrayValue?.values ?? [$0] } ?? []
        var asked: Set<[UInt8]> = []
        var visited: Set<[UInt8]> = []
        var found: [BSONValue] = []
        let holding = MemoryHolding.begin("$graphLookup")
        var bytes = 0
        var depth: Int64 = 0
        while depth <= depthMax ?? .max {
            frontier = frontier.filter { asked.insert(run.key(of: $0)).inserted }
            guard !frontier.isEmpty else { break }
            let documents = try join.documents(with: frontier)
            frontier = []
            for document in documents {
                guard let id = document["_id"] else {
                    throw .location(
                        40271,
                        "Documents in the '\(run.namespace.database).\(from)' namespace must "
                            + "contain an _id for de-duplication in $graphLookup")
                }
                guard visited.insert(BSONKey.encode(id)).inserted else { continue }
                frontier += NestedField.values(connectFrom, in: document).map { $0.compacted() }
                bytes += document.byteCount
                guard bytes <= run.bytesMax else {
                    throw .location(40099, "$graphLookup reached maximum memory consumption")
                }
                try holding?.add(document.byteCount)
                found.append(.document(numbered(document, depth).compacted()))
            }
            depth += 1
        }
        return found
    }

    private func numbered(_ document: BSONDocument, _ depth: Int64) -> BSONDocument {
        guard let depthField else { return document }
        return NestedField.setting(depthField, to: .int64(depth), in: document)
    }
}
