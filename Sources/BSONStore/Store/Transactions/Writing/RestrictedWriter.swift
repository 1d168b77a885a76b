/// A writer to one collection that changes only what the access policy allows.
struct RestrictedWriter {
    /// The access to the collection.
    let gate: any CollectionAccess
    /// The execution of queries as the access policy allows.
    let executor: QueryExecutor
    /// The writer, which knows no policy.
    let writer: DocumentWriter

    /// Adds a document.
    func insert(_ stored: StorableDocument, _ namespace: Namespace) throws(StoreError) {
        try conceal(of: stored.document, namespace) { () throws(StoreError) in
            _ = try gate.judge(from: nil, toShown: stored.document)
            try writer.insert(stored, namespace)
        }
    }

    /// Removes the document with an id and returns it as the access policy shows it, or `nil`.
    func remove(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        guard let found = try executor.rows.stored(namespace, id: id),
            let shown = gate.visible(found.document)
        else { return nil }
        try remove(found, from: namespace)
        return shown
    }

    /// Removes a document that this transaction has read.
    func remove(_ found: StoredDocument, from namespace: Namespace) throws(StoreError) {
        _ = try gate.judge(from: found.document, toShown: nil)
        try writer.remove(found, from: namespace)
    }

    /// Changes a document under an access policy: the update sees the visible fields, and the
    /// hidden ones stay.
    func change(
        _ found: StoredDocument, _ update: Update, _ filter: Filter, in namespace: Namespace,
        _ outcome: inout UpdateResult
    ) throws(StoreError) {
        let shown = gate.shown(found.document)
        outcome.matchedCount += 1
        guard let changed = try update.apply(to: shown, matching: filter), changed != shown else {
            outcome.unchanged = shown
            return
        }
        try StorableDocument.check(changed, changed["_id"] ?? .null, in: namespace)
        let after = try replace(
            found, byShown: changed, in: namespace,
            as: update.isReplacement ? .replace : .update)
        outcome.modifiedCount += 1
        outcome.keep(before: shown, after: gate.shown(after))
    }

    /// Stores a document under its `_id`, subject to an access policy.
    func put(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> DocumentImages {
        let new = try StorableDocument(document, in: namespace)
        guard let found = try executor.rows.stored(namespace, id: new.id) else {
            try insert(new, namespace)
            return DocumentImages(before: nil, after: new.document)
        }
        guard let shown = gate.visible(found.document) else {
            throw gate.reportedDenial(of: new.document)
        }
        if shown != new.document {
            _ = try replace(found, byShown: new.document, in: namespace, as: .replace)
        }
        return DocumentImages(before: shown, after: new.document)
    }

    private func replace(
        _ found: StoredDocument, byShown changed: BSONDocument, in namespace: Namespace,
        as kind: StoreChange.Kind
    ) throws(StoreError) -> BSONDocument {
        let after = try gate.judge(from: found.document, toShown: changed) ?? changed
        try conceal(of: changed, namespace) { () throws(StoreError) in
            // The size with the hidden fields would reveal them.
            try StorableDocument.check(after, after["_id"] ?? .null, in: namespace)
            try writer.replace(found, by: after, in: namespace, as: kind)
        }
        return after
    }

    /// Performs a write whose errors must not reveal hidden documents or fields.
    private func conceal(
        of document: BSONDocument, _ namespace: Namespace, _ write: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try write()
        } catch {
            guard try isSecret(error, namespace) else { throw error }
            throw gate.reportedDenial(of: document)
        }
    }

    private func isSecret(
        _ error: StoreError, _ namespace: Namespace
    ) throws(StoreError) -> Bool {
        switch error.code {
        case .duplicateKey:
            guard let pattern = error.keyPattern, let value = error.keyValue,
                !pattern.keys.contains(where: { gate.hides(path: $0) })
            else { return true }
            var filter = BSONDocument()
            for (key, value) in value { filter.append(key, ["$eq": value]) }
            return try executor.find(
                namespace, filter: try Filter(filter), options: .first, bytesMax: .max
            ).isEmpty
        case .documentValidationFailure: return gate.hidesFields
        default:
            return gate.hidesFields && error.code != .unauthorized && !error.concernsFile
        }
    }
}
