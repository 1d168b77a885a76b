internal import BSONStore

/// A source that reads a collection in insertion order, one batch at a time.
///
/// Between batches it keeps only its position, so the cost of a cursor does not depend on the
/// number of documents.
struct RowSource: CursorSource {
    private let runner: TransactionRunner
    let namespace: Namespace
    let query: FindQuery
    let isTailable: Bool
    let memoryBytes: Int
    private var table: Int64?
    private var row: Int64 = 0
    private var skip: Int
    private var left: Int

    init(
        _ runner: TransactionRunner, _ namespace: Namespace, _ query: FindQuery,
        isTailable: Bool = false, holding memoryBytes: Int
    ) {
        self.memoryBytes = memoryBytes
        self.runner = runner
        self.namespace = namespace
        self.query = query
        self.isTailable = isTailable
        skip = query.options.skip
        left = query.options.limit == 0 ? .max : query.options.limit
    }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        guard left > 0 else { return CursorBatch(isAtEnd: true) }
        let isFirst = table == nil
        var reading = Reading(row: row, skip: skip, left: left)
        let (found, isEmpty) = try runner.read(call) { transaction in
            if isTailable, row > 0, !(try transaction.hasRow(namespace, row)) {
                throw CommandFailure(
                    136,
                    "CollectionScan died due to position in capped collection being deleted. Last "
                        + "seen record id: RecordId(\(row))")
            }
            let found: Int64?
            do throws(StoreError) {
                found = try transaction.visitRows(
                    namespace, table: table, after: row, query.filter
                ) { (row, document) throws(StoreError) in
                    try reading.take(row, document, query, limits, call)
                }
            } catch {
                throw CommandFailure.framed(
                    error,
                    isFirst ? "Executor error during find command" : "Executor error during getMore"
                )
            }
            return (found, isTailable && isFirst ? try transaction.count(namespace) == 0 : false)
        }
        guard let found else {
            guard isFirst else {
                throw CommandFailure(
                    175, "collection dropped between getMore calls: \(namespace)")
            }
            return CursorBatch(isAtEnd: true)
        }
        table = found
        (row, skip, left) = (reading.row, reading.skip, reading.left)
        // As in MongoDB, a full batch does not reveal whether more documents follow.
        let isFull = reading.isFull || reading.documents.count >= limits.documentsMax
        let isExhausted = !isFull || left == 0
        return CursorBatch(
            documents: reading.documents, isAtEnd: isTailable ? isEmpty : isExhausted)
    }

    /// The contents of the current batch.
    private struct Reading {
        var row: Int64
        var skip: Int
        var left: Int
        var documents: [BSONDocument] = []
        var bytes = 0
        var isFull = false

        mutating func take(
            _ row: Int64, _ document: BSONDocument, _ query: FindQuery, _ limits: BatchLimits,
            _ call: CommandCall
        ) throws(StoreError) -> Bool {
            try call.checkBudget()
            if skip > 0 {
                (skip, self.row) = (skip - 1, row)
                return true
            }
            guard left > 0 else { return false }
            let shown =
                try query.options.projection?.apply(
                    to: document, matching: query.filter, sortedBy: query.options.sort)
                ?? document
            guard limits.hasRoom(count: documents.count, bytes: bytes, for: shown) else {
                isFull = true
                return false
            }
            documents.append(shown.compacted())
            bytes += shown.byteCount + 16
            self.row = row
            left -= 1
            // Who wants one document does not wait until the others are compared.
            return left > 0 && documents.count < limits.documentsMax
        }
    }
}
