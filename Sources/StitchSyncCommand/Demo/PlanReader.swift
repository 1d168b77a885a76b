import BSONStore

/// A reader of the plan file: one document id per line; the line's index decides the action.
struct PlanReader {
    /// The number of documents in the plan.
    let count: Int
    private let descriptor: Descriptor
    private var lines: LineReader
    private var place = 0

    init(_ path: String) throws {
        let counted = try Descriptor.reading(path)
        defer { counted.close() }
        var counting = LineReader(counted)
        var count = 0
        while try counting.next() != nil { count += 1 }
        self.count = count
        descriptor = try Descriptor.reading(path)
        lines = LineReader(descriptor)
    }

    /// Returns the next document's index and id.
    mutating func next() throws -> (place: Int, id: BSONValue)? {
        guard let line = try lines.next() else { return nil }
        defer { place += 1 }
        let document = try DocumentReader.document(line)
        guard let id = document?["_id"] else {
            throw CommandError("line \(line.number) of the plan has no _id")
        }
        return (place, id)
    }

    /// Closes the file.
    func close() { descriptor.close() }

    /// Writes the plan for the documents of a store, in the store's order.
    ///
    /// - Returns: the number of documents.
    static func write(_ path: String, for store: DocumentStore) throws -> Int {
        let file = try Descriptor.writing(path)
        defer { file.close() }
        var lines = BufferedLines(to: file)
        var count = 0
        try store.read { transaction in
            try transaction.forEach(DemoFiles.namespace) { document in
                let line: BSONDocument = ["_id": document["_id"] ?? .null]
                try lines.append(line.extendedJSONBytes(.canonical))
                count += 1
            }
        }
        try lines.flush()
        return count
    }
}
