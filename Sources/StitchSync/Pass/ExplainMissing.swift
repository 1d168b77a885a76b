internal import BSONStore

/// The search for the reason why documents are missing at the remote: only evidence of a delete
/// removes the local document (decision 7).
///
/// A user who sees only a part of the collection cannot tell a deleted document from a hidden one. A
/// change of a hidden document is refused, one of a deleted document is a conflict, so for documents
/// with a pending change the reason is searched for in the same way.
struct ExplainMissing {
    let context: PassContext
    let applyRemote: ApplyRemote

    /// Settles the documents that a fetch found missing without evidence of a delete, and those with
    /// a pending change that it did not find among those that the user sees.
    ///
    /// First it continues to read the history, since a delete may lie between the last read and the
    /// fetch. Then it requests tombstones. Documents without evidence are kept as unexplained; those
    /// that exist again by then are fetched again instead.
    func run() async throws {
        let collection = try context.read { $1 }
        let missing = context.findings.takeMissing()
        let hidden = context.findings.takeHidden()
        guard !missing.isEmpty || !hidden.isEmpty else {
            if collection.lostToken != nil {
                try await context.updateCollection { $0.lostToken = nil }
            }
            return
        }
        // Two fetches of one pass may have missed the same document.
        var keys: Set<[UInt8]> = []
        let ids = (missing + hidden).filter { keys.insert(BSONKey.encode($0)).inserted }
        let existing = try await readOn(collection)
        let (open, hiddenRecords) = try context.snapshot { snapshot in
            let records = try ids.compactMap(snapshot.record).filter {
                existing?.contains(BSONKey.encode($0.documentID)) != true
            }
            return (
                records.filter {
                    $0.isMissing && AbsenceCause(staleMark: $0.staleMark) != .deleted
                },
                // Without the changes since the last read, nothing is known of these.
                existing == nil ? [] : records.filter(\.isHidden)
            )
        }
        let deleted = try await FindDeletes(context: context).keys(
            of: open + hiddenRecords, since: collection.lostToken ?? collection.token)
        let removes = context.configuration.unexplained.removesAll
        let count = try await context.write { sync in
            let marks = MarkUnexplained(sync: sync)
            let marked = try open.count { record in
                let isDeleted = removes || deleted.contains(BSONKey.encode(record.documentID))
                return try marks.mark(record, isDeleted: isDeleted)
            }
            for record in hiddenRecords {
                try marks.markHidden(
                    record, isDeleted: deleted.contains(BSONKey.encode(record.documentID)))
            }
            var collection = sync.collection
            collection.lostToken = nil
            try sync.collections.save(collection)
            return marked
        }
        try await applyRemote.apply(
            try context.snapshot { try ids.compactMap($0.record).filter { $0.staleMark > 0 } })
        guard count > 0 else { return }
        context.findings.count { $0.unexplained += count }
        try await reportUnexplained()
    }

    /// Continues to read the history; returns the keys of the documents that exist after their last
    /// change since the last read, or `nil` where the changes cannot be known.
    ///
    /// The remote keeps no tombstone of these documents, and does not tell the changes again.
    private func readOn(_ collection: SyncCollectionState) async throws -> Set<[UInt8]>? {
        var existing: Set<[UInt8]> = []
        guard let token = collection.token else { return existing }
        guard !collection.needsScan else { return nil }
        let pages = ReadHistoryPages(context: context)
        do {
            try await pages.read(after: token) { batch in
                for change in batch.changes {
                    let key = BSONKey.encode(change.documentID)
                    if AbsenceCause(change) == .nothing {
                        existing.insert(key)
                    } else {
                        existing.remove(key)
                    }
                }
                try await pages.markStale(batch)
            }
            return existing
        } catch let error as RemoteError where error.endsHistory {
            // The changes in between are unknown; the next pass compares everything.
            return nil
        }
    }

    /// Reports the unexplained documents once and calls the app's closure where the policy has one.
    private func reportUnexplained() async throws {
        let ids = try context.read { records, collection in
            try records.documentIDs(.unexplained, in: collection.rowID)
        }
        guard !ids.isEmpty else { return }
        context.findings.add(
            SyncError(
                .unexplainedAbsence,
                "\(ids.count) document\(ids.count == 1 ? " is" : "s are") missing at the remote, and "
                    + "there is no evidence of a delete: unexplained documents stay here and are not sent; "
                    + "unexplainedIDs lists them, resolveUnexplained(_:) removes or uploads them",
                namespace: context.namespace))
        guard let ask = context.configuration.unexplained.ask else { return }
        let absence = UnexplainedAbsence(namespace: context.namespace, documentIDs: ids)
        do {
            let answer = try await withTimeout(
                context.limits.handlerTimeout, clock: context.engine.clock
            ) {
                try await ask(absence)
            }
            _ = try await context.write {
                try MarkUnexplained(sync: $0).resolve(answer, among: ids)
            }
        } catch {
            try Task.checkCancellation()
            context.findings.add(
                SyncError(
                    error is TimeoutError ? .handlerTimeout : .handlerFailed,
                    "asking about missing documents failed, they stay: \(error)",
                    namespace: context.namespace, underlying: error))
        }
    }
}
