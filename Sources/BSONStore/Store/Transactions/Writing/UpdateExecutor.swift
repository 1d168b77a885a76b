/// The updates and deletes of the documents that match a filter.
struct UpdateExecutor {
    /// The writes of single documents.
    let policyWriter: PolicyWriter
    /// The index by which documents are found; `nil` leaves it to the planner.
    let hint: IndexHint?

    private var executor: QueryExecutor { policyWriter.executor }

    /// Changes the first document that matches a filter.
    ///
    /// - Parameters:
    ///   - filter: selects the document; `$` in the update stands for the array element it matched.
    ///   - upsert: whether to insert a document from the filter's equalities and the update when
    ///     none matches.
    ///   - sort: the order that decides which document is the first; `nil` for the order of
    ///     insertion.
    /// - Returns: the counts, and the document before and after when it was changed.
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    func updateOne(
        _ namespace: Namespace, filter: Filter, update: Update, upsert: Bool,
        sort: SortOrder?
    ) throws(StoreError) -> UpdateResult {
        if upsert { try Update.checkUpsert(filter) }
        let filter = try completed(filter, at: namespace)
        let update = try completed(update, at: namespace)
        var outcome = UpdateResult(keepsImages: true)
        let found = try first(namespace, filter, sort)
        do throws(StoreError) {
            if let found {
                try change(found, update, filter, in: namespace, &outcome)
            } else if upsert {
                try self.upsert(namespace, filter, update, &outcome)
            }
        } catch {
            throw error.during(.execution)
        }
        return outcome
    }

    /// Changes every document that matches a filter; the documents are chosen before the first
    /// change.
    ///
    /// - Parameters:
    ///   - keepImages: whether the outcome holds the documents before and after.
    ///   - range: which of the matching documents; `nil` for all.
    /// - Throws: errors with MongoDB's codes and messages; the changes made until then are undone.
    func updateMany(
        _ namespace: Namespace, filter: Filter, update: Update, upsert: Bool,
        keepImages: Bool, within range: FindOptions?
    ) throws(StoreError) -> UpdateResult {
        guard !update.isReplacement else {
            throw StoreError(
                .failedToParse, "multi update is not supported for replacement-style update")
        }
        var outcome = UpdateResult(keepsImages: keepImages)
        try nested { () throws(StoreError) in
            try updateAll(namespace, filter, update, upsert: upsert, range, &outcome)
        }
        return outcome
    }

    /// Changes every document that matches a filter; those changed before a refused one stay
    /// changed.
    ///
    /// - Returns: the counts, or the refusal with the counts as its `writes`.
    /// - Throws: SQLite's errors; abandon the transaction then.
    func updateEach(
        _ namespace: Namespace, _ filter: Filter, _ update: Update, upsert: Bool,
        within range: FindOptions?
    ) throws(StoreError) -> Result<UpdateResult, StoreError> {
        var outcome = UpdateResult(keepsImages: false)
        do throws(StoreError) {
            try updateAll(namespace, filter, update, upsert: upsert, range, &outcome)
            return .success(outcome)
        } catch {
            guard error.concernsWrite else { throw error }
            var refusal = error
            refusal.writes = BulkWriteResult(
                matchedCount: outcome.matchedCount, modifiedCount: outcome.modifiedCount,
                errors: [BulkWriteResult.WriteError(index: 0, error: error)])
            return .failure(refusal)
        }
    }

    private func updateAll(
        _ namespace: Namespace, _ filter: Filter, _ update: Update, upsert: Bool,
        _ range: FindOptions?, _ outcome: inout UpdateResult
    ) throws(StoreError) {
        if upsert { try Update.checkUpsert(filter) }
        let filter = try completed(filter, at: namespace)
        let update = try completed(update, at: namespace)
        let rows = try rows(namespace, filter, range)
        if rows.isEmpty, upsert { try self.upsert(namespace, filter, update, &outcome) }
        for row in rows {
            guard let found = try executor.rows.stored(namespace, row: row) else { continue }
            try change(found, update, filter, in: namespace, &outcome)
        }
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    func replaceOne(
        _ namespace: Namespace, filter: Filter, document: BSONDocument, upsert: Bool,
        sort: SortOrder?
    ) throws(StoreError) -> UpdateResult {
        try updateOne(
            namespace, filter: filter, update: try Update(replacement: document), upsert: upsert,
            sort: sort)
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    func deleteOne(
        _ namespace: Namespace, filter: Filter, sort: SortOrder?
    ) throws(StoreError) -> BSONDocument? {
        let filter = try completed(filter, at: namespace)
        guard let found = try first(namespace, filter, sort) else { return nil }
        try policyWriter.remove(found, from: namespace)
        return policyWriter.shown(found.document, namespace)
    }

    /// Removes every document that matches a filter.
    ///
    /// - Parameters:
    ///   - range: which of the matching documents; `nil` for all.
    ///   - body: receives each document before it is removed; it must not write.
    /// - Returns: how many were removed.
    func deleteMany(
        _ namespace: Namespace, filter: Filter, within range: FindOptions?,
        _ body: (BSONDocument) -> Void
    ) throws(StoreError) -> Int {
        let filter = try completed(filter, at: namespace)
        let rows = try rows(namespace, filter, range)
        try nested { () throws(StoreError) in
            for row in rows {
                guard let found = try executor.rows.stored(namespace, row: row) else { continue }
                body(policyWriter.shown(found.document, namespace))
                try policyWriter.remove(found, from: namespace)
            }
        }
        return rows.count
    }

    /// Runs a body and undoes its changes when it fails, so that the transaction can continue.
    private func nested(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do {
            try policyWriter.writer.savepoint(body)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.internalError, "\(error)", underlying: error)
        }
    }

    private func change(
        _ found: StoredDocument, _ update: Update, _ filter: Filter, in namespace: Namespace,
        _ outcome: inout UpdateResult
    ) throws(StoreError) {
        if let restricted = policyWriter.restricted(namespace) {
            return try restricted.change(found, update, filter, in: namespace, &outcome)
        }
        outcome.matchedCount += 1
        let after: BSONDocument
        if let same = update.replacingInPlace(in: found.document) {
            after = same
        } else {
            guard let changed = try update.apply(to: found.document, matching: filter) else {
                outcome.unchanged = found.document
                return
            }
            try StorableDocument.check(changed, changed["_id"] ?? .null, in: namespace)
            after = changed
        }
        try policyWriter.writer.replace(
            found, by: after, in: namespace, as: update.isReplacement ? .replace : .update,
            remarks: update.remarks)
        outcome.modifiedCount += 1
        outcome.keep(before: found.document, after: after)
    }

    private func upsert(
        _ namespace: Namespace, _ filter: Filter, _ update: Update,
        _ outcome: inout UpdateResult
    ) throws(StoreError) {
        let inserted = try policyWriter.insert(try update.insertion(for: filter), namespace)
            .document
        outcome.upsertedID = inserted["_id"]
        outcome.keep(before: nil, after: policyWriter.shown(inserted, namespace))
    }

    /// Returns the first matching document with its row.
    private func first(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?
    ) throws(StoreError) -> StoredDocument? {
        if hint == nil, let id = filter.wantedID {
            guard let found = try executor.rows.stored(namespace, id: id) else { return nil }
            let gate = executor.access.gate(namespace)
            guard let seen = gate == nil ? found.document : gate?.visible(found.document) else {
                return nil
            }
            if filter.isDeterminedByID { return found }
            return try filter.evaluate(seen) ? found : nil
        }
        // The sort compares strings as the filter does.
        let sort =
            sort.map { $0.collation == nil ? $0.collated(filter.collation) : $0 }
            ?? filter.impliedOrder
        let plan = try executor.plan(
            namespace, filter, sort, FindOptions(limit: 1, hint: hint))
        var best: StoredDocument?
        var bestKey: [UInt8]?
        try executor.scan(namespace, filter, plan, sort: sort, withRows: true) { row, bytes in
            let document = BSONDocument(unchecked: Array(bytes))
            guard let sort, !plan.isSorted else {
                best = StoredDocument(row: row, document: document)
                return false
            }
            let metadata = sort.needsMetadata ? filter.metadata(of: document) : [:]
            let key = sort.key(of: document, metadata: metadata)
            if let known = bestKey, !key.lexicographicallyPrecedes(known) { return true }
            bestKey = key
            best = StoredDocument(row: row, document: document)
            return true
        }
        // The search saw the visible fields; the change needs the stored document.
        guard let found = best, executor.access.isRestricted(namespace) else { return best }
        return try executor.rows.stored(namespace, row: found.row)
    }

    /// Returns the filter with the collation and text index of the collection to write to.
    ///
    /// - Throws: 166 for a view.
    private func completed(
        _ filter: Filter, at namespace: Namespace
    ) throws(StoreError) -> Filter {
        if executor.access.isOpen(namespace), try executor.tables.view(namespace) != nil {
            throw .view(namespace)
        }
        return try executor.completed(filter, namespace)
    }

    /// Returns the update with the collection's collation.
    private func completed(
        _ update: Update, at namespace: Namespace
    ) throws(StoreError) -> Update {
        try executor.completed(update, namespace)
    }

    /// Returns the rows of the matching documents.
    ///
    /// - Parameter range: which of them; `nil` for all.
    private func rows(
        _ namespace: Namespace, _ filter: Filter, _ range: FindOptions?
    ) throws(StoreError) -> [Int64] {
        var rows: [Int64] = []
        if var range {
            range.projection = nil
            let found = try executor.find(
                namespace, filter: filter, options: range, bytesMax: .max)
            for document in found {
                guard let id = document["_id"] else { continue }
                if let stored = try executor.rows.stored(namespace, id: id) {
                    rows.append(stored.row)
                }
            }
            return rows
        }
        let plan = try executor.plan(namespace, filter, nil, FindOptions(hint: hint))
        try executor.scan(namespace, filter, plan, withRows: true) { row, _ in
            rows.append(row)
            return true
        }
        return rows
    }

    /// Changes the first matching document and returns it before or after, as the options say.
    func findAndModify(
        _ namespace: Namespace, _ filter: Filter, _ update: Update,
        _ options: FindOneAndOptions
    ) throws(StoreError) -> BSONDocument? {
        let outcome = try updateOne(
            namespace, filter: filter, update: update, upsert: options.upsert,
            sort: options.sort)
        let found: BSONDocument?
        if let images = outcome.images.first {
            found = options.returnsAfter ? images.after : images.before
        } else if outcome.matchedCount > 0 {
            // Nothing changed, so before and after are the same.
            found = outcome.unchanged
        } else {
            found = nil
        }
        guard let found else { return nil }
        return try executor.projected(
            found, by: options.projection, filter, namespace,
            selectedAs: outcome.images.first?.before)
    }
}
