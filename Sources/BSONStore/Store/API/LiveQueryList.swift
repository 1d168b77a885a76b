/// The documents that a live query found once, stored and decoded.
struct LiveQueryList<Document: Sendable>: Sendable {
    /// The identity of a document in two lists.
    struct Key: Sendable, Hashable {
        /// The encoded `_id`; empty without one.
        let id: [UInt8]
        /// The number of documents with the `_id` before it; only a view's documents may share one.
        let repetition: Int
    }

    /// A document that decoded.
    struct Row: Sendable {
        let key: Key
        let id: BSONValue
        let stored: BSONDocument
        let document: Document
    }

    /// All documents as they are stored.
    let stored: [BSONDocument]
    /// Those that decoded.
    private(set) var rows: [Row] = []
    /// Those that did not.
    private(set) var failures: [DocumentDecodingFailure] = []

    /// Decodes the documents that differ from those of an earlier list.
    init(
        _ stored: [BSONDocument], after before: Self?, by decode: (BSONDocument) throws -> Document
    ) {
        self.stored = stored
        var known: [Key: Row] = [:]
        for row in before?.rows ?? [] { known[row.key] = row }
        var counts: [[UInt8]: Int] = [:]
        for document in stored {
            let id = document["_id"]
            let encoded = id.map { BSONKey.encode($0) } ?? []
            let key = Key(id: encoded, repetition: counts[encoded, default: 0])
            counts[encoded] = key.repetition + 1
            do {
                let earlier = known[key].flatMap { $0.stored == document ? $0.document : nil }
                let decoded = try earlier ?? decode(document)
                rows.append(Row(key: key, id: id ?? .null, stored: document, document: decoded))
            } catch {
                failures.append(
                    DocumentDecodingFailure(error, decoding: document, as: Document.self))
            }
        }
    }
}
