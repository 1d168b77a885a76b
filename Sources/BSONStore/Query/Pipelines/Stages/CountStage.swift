/// A stage that returns one document with the number of all.
struct CountStage: CountingStage {
    let field: String

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .string(let field) = value else {
            throw .location(40156, "the count field must be a non-empty string")
        }
        guard !field.isEmpty else {
            throw .location(40157, "the count field must be a non-empty string")
        }
        guard !field.hasBytePrefix("$") else {
            throw .location(40158, "the count field cannot be a $-prefixed path")
        }
        guard !field.utf8.contains(0) else {
            throw .location(40159, "the count field cannot contain a null byte")
        }
        guard !field.utf8.contains(UInt8(ascii: ".")) else {
            throw .location(40160, "the count field cannot contain '.'")
        }
        guard field != "_id" else {
            throw .location(9_039_800, "the count field cannot be '_id'")
        }
        return [CountStage(field: field)]
    }

    func document(of count: Int, _: PipelineRun) -> BSONDocument? {
        count == 0 ? nil : [field: .count(count)]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        CountingSink(next, self, run)
    }
}
