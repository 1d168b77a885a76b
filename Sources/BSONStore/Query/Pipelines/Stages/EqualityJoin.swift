/// A join on equality with a field of another collection, for `$lookup` and `$graphLookup`.
///
/// If the field has an index, or if the documents are those of a view that chooses at random, every
/// look-up is a query. Otherwise the collection is read once into a table. If it exceeds a stage's
/// memory, every look-up reads it again.
final class EqualityJoin {
    private let run: PipelineRun
    private let field: String
    private let parts: [String]
    private let parser: PipelineParser
    /// An additional condition on the documents.
    private let restriction: Filter?
    private var table: Table?
    private var isDecided = false

    /// The documents of the collection and their positions by the keys of their values.
    private struct Table {
        var documents: [BSONDocument] = []
        var places: [[UInt8]: [Int]] = [:]
        var bytes = 0
        let holding = MemoryHolding.begin("a join")
    }

    init(
        _ run: PipelineRun, field: String, restriction: Filter?, _ parser: PipelineParser
    ) {
        self.run = run
        self.field = field
        self.restriction = restriction
        self.parser = parser
        parts = field.dottedParts
    }

    /// Returns the documents with one of the values, each once, in the order of the collection.
    func documents(with values: [BSONValue]) throws(StoreError) -> [BSONDocument] {
        guard !values.isEmpty else { return [] }
        try decide()
        guard let table else { return try query(values) }
        guard values.allSatisfy(Self.isPlain), !hasPosition else {
            let filter = try parser.filter(Self.filter(field, values))
            var found: [BSONDocument] = []
            for document in table.documents where try run.matches(filter, document) {
                found.append(document)
            }
            return found
        }
        var places: Set<Int> = []
        for value in values { places.formUnion(table.places[run.key(of: value)] ?? []) }
        return places.sorted().map { table.documents[$0] }
    }

    /// Returns a filter for documents with one of the values.
    static func filter(_ field: String, _ values: [BSONValue]) -> BSONDocument {
        if values.count == 1 { return [field: ["$eq": values[0]]] }
        // In `$in` a regular expression would be matched instead of compared.
        guard values.contains(where: { $0.type == .regularExpression }) else {
            return [field: ["$in": .array(BSONArray(values))]]
        }
        let each = values.map { value -> BSONValue in [field: ["$eq": value]] }
        return ["$or": .array(BSONArray(each))]
    }

    /// Whether a value equals only values with the same key: null also equals a missing field.
    private static func isPlain(_ value: BSONValue) -> Bool {
        switch value.type {
        case .document, .double, .string, .binary, .objectID, .bool, .datetime, .int32,
            .timestamp, .int64, .decimal128:
            true
        default: false
        }
    }

    private var hasPosition: Bool { parts.contains { FieldPath.index($0) != nil } }

    private func query(_ values: [BSONValue]) throws(StoreError) -> [BSONDocument] {
        var selection = AggregationSelection()
        selection.filter = try parser.filter(Self.filter(field, values))
        selection.frame = run.frame
        var found: [BSONDocument] = []
        var memory = run.memory("a join")
        try run.source.forEach(run.namespace, selection) { (document) throws(StoreError) in
            guard try passes(document) else { return true }
            try memory.add(document.byteCount)
            found.append(document)
            return true
        }
        return found
    }

    private func passes(_ document: BSONDocument) throws(StoreError) -> Bool {
        guard let restriction else { return true }
        return try run.matches(restriction, document)
    }

    /// Chooses between queries and a table at the first look-up.
    private func decide() throws(StoreError) {
        guard !isDecided else { return }
        isDecided = true
        let isIndexed = try run.source.isIndexed(run.namespace, field)
        guard run.collation != nil || !isIndexed else { return }
        // As in MongoDB, every look-up runs a view anew.
        guard try !run.source.choosesAtRandom(run.namespace) else { return }
        var filling: Table? = Table()
        var selection = AggregationSelection()
        selection.frame = run.frame
        try run.source.forEach(run.namespace, selection) { (document) throws(StoreError) in
            guard try passes(document) else { return true }
            filling?.bytes += document.byteCount + 128
            guard filling?.bytes ?? 0 <= run.bytesMax else {
                filling = nil
                return false
            }
            try filling?.holding?.add(document.byteCount + 128)
            let place = filling?.documents.count ?? 0
            filling?.documents.append(document)
            for key in keys(of: document) { filling?.places[key, default: []].append(place) }
            return true
        }
        table = filling
    }

    private func keys(of document: BSONDocument) -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = []
        document.withUnsafeBytes { bytes in
            PathTraversal.visit(parts[...], document: bytes) { value in
                guard let value else { return }
                keys.insert(run.key(of: BSONValue(copying: value)))
            }
        }
        return keys
    }
}
