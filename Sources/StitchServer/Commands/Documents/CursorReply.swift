internal import BSONStore
internal import StitchRules

/// The replies that hold a batch of documents.
enum CursorReply {
    /// The field of a batch in its reply.
    enum Batch: Sendable {
        case first
        case next
    }

    /// Returns the reply with a batch.
    static func reply(
        _ batch: CursorBatch, _ which: Batch, id: Int64, _ namespace: Namespace,
        readAt time: BSONTimestamp? = nil
    ) -> BSONDocument {
        let bytes = batch.documents.reduce(256) { $0 + $1.byteCount + 16 }
        return BSONDocument.build(reservingBytes: bytes) { builder in
            builder.appendDocument("cursor") { cursor in
                cursor.appendArray(which == .first ? "firstBatch" : "nextBatch") { array in
                    for (index, document) in batch.documents.enumerated() {
                        array.append(at: index, .document(document))
                    }
                }
                if let token = batch.resumeToken {
                    cursor.append("postBatchResumeToken", document: token)
                }
                if let time { cursor.append("atClusterTime", .timestamp(time)) }
                cursor.append("id", int64: id)
                cursor.append("ns", string: namespace.description)
            }
        }
    }

    /// Returns the first batch, and opens a cursor if there are more documents.
    ///
    /// - Parameter ruleGuard: the rules from before the documents were read, so that a change
    ///   meanwhile ends the cursor.
    static func open(
        _ source: some CursorSource, _ namespace: Namespace, _ call: CommandCall,
        on backend: StoreBackend, under ruleGuard: RuleAccessPolicy?, batchSize: Int?,
        isSingle: Bool = false,
        options: CursorOptions = CursorOptions()
    ) throws -> CommandOutcome {
        var source: any CursorSource = source
        if backend.server.settings.rules != nil {
            source = RuleCheckedSource(source, backend.rules, ruleGuard, call, namespace)
        }
        let limits = BatchLimits(documentsMax: batchSize ?? 101)
        let batch = try source.next(limits, call)
        var id: Int64 = 0
        if !isSingle, !batch.isAtEnd {
            id = backend.cursors.add(
                source, namespace, call.session, of: call.cursorOwner, options)
        }
        return .reply(
            reply(
                batch, .first, id: id, namespace, readAt: call.snapshot?.time))
    }
}
