/// The values that were emitted with one key, until they are reduced.
final class MapReduceState: AccumulatorState {
    private let script: any CompiledScript
    private let scope: BSONDocument
    private var memory: AccumulatorMemory
    private var key = BSONValue.null
    private var values: [BSONValue] = []

    init(_ script: any CompiledScript, _ scope: BSONDocument, _ run: PipelineRun) {
        self.script = script
        self.scope = scope
        memory = AccumulatorMemory("$_internalJsReduce", run.bytesMax)
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let document = value?.documentValue, let value = document["v"],
            let key = document["k"]
        else {
            throw .location(
                31251,
                "$_internalJsReduce requires the 'data' argument to have a 'k' and 'v' field")
        }
        self.key = key
        values.append(value)
        return try memory.add(value)
    }

    /// Returns the values, the last ones first, in parts that fit a document, as in MongoDB.
    override func result() throws(StoreError) -> BSONValue? {
        while true {
            var part: [BSONValue] = []
            var bytes = BSONWriter.count(key)
            while let value = values.last {
                bytes += BSONWriter.count(value) + Self.keyBytes
                guard bytes <= ExpressionLimits.bytesMax else { break }
                part.append(value)
                values.removeLast()
            }
            guard part.count > 1 || values.isEmpty else {
                throw .location(31392, "Value too large to reduce")
            }
            let value = try script.value(of: [key, .array(BSONArray(part))], scope: scope)
            if values.isEmpty { return value }
            values.append(value)
        }
    }

    /// The approximate number of bytes for the key of an array element.
    private static let keyBytes = 10
}
