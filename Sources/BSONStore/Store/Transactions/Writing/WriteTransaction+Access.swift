extension WriteTransaction {
    /// Returns a document as the access policy shows it.
    func shown(_ document: BSONDocument, _ namespace: Namespace) -> BSONDocument {
        gate(namespace)?.shown(document) ?? document
    }

    /// Changes a document under an access policy: the update sees the visible fields, and the
    /// hidden ones stay.
    func change(
        _ found: StoredDocument, _ update: Update, _ filter: Filter, in namespace: Namespace,
        _ gate: any CollectionAccess, _ outcome: inout UpdateResult
    ) throws(StoreError) {
        let shown = gate.shown(found.document)
        outcome.matchedCount += 1
        guard let changed = try update.apply(to: shown, matching: filter), changed != shown else {
            outcome.unchanged = shown
            return
        }
        try StorableDocument.check(changed, changed["_id"] ?? .null, in: namespace)
        let after = try replace(
            found, byShown: changed, in: namespace, gate,
            as: update.isReplacement ? .replace : .update)
        outcome.modifiedCount += 1
        outcome.keep(before: shown, after: gate.shown(after))
    }

    /// Stores a document under its `_id`, subject to an access policy.
    func put(
        _ namespace: Namespace, _ document: BSONDocument, _ gate: any CollectionAccess
    ) throws(StoreError) -> DocumentImages {
        let new = try StorableDocument(document, in: namespace)
        guard let found = try stored(namespace, id: new.id) else {
            return DocumentImages(before: nil, after: try insert(namespace, document))
        }
        guard let shown = visible(found.document, gate) else {
            throw gate.refusal(of: new.document)
        }
        if shown != new.document {
            _ = try replace(found, byShown: new.document, in: namespace, gate, as: .replace)
        }
        return DocumentImages(before: shown, after: new.document)
    }

    private func replace(
        _ found: StoredDocument, byShown changed: BSONDocument, in namespace: Namespace,
        _ gate: any CollectionAccess, as kind: StoreChange.Kind
    ) throws(StoreError) -> BSONDocument {
        let after = try gate.written(from: found.document, toShown: changed) ?? changed
        try telling(of: changed, namespace) { () throws(StoreError) in
            // The size with the hidden fields would reveal them.
            try StorableDocument.check(after, after["_id"] ?? .null, in: namespace)
            try onTableForWriting(namespace) { (table) throws(StoreError) in
                let link = try rewrite(found, after, in: table)
                try record(kind, namespace, before: found.document, after: after, link: link)
            }
        }
        return after
    }

    /// Performs a write whose errors must not reveal hidden documents or fields.
    func telling(
        of document: BSONDocument, _ namespace: Namespace, _ write: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try write()
        } catch {
            guard let gate = gate(namespace), try isSecret(error, namespace, gate) else {
                throw error
            }
            throw gate.refusal(of: document)
        }
    }

    private func isSecret(
        _ error: StoreError, _ namespace: Namespace, _ gate: any CollectionAccess
    ) throws(StoreError) -> Bool {
        switch error.code {
        case .duplicateKey:
            guard let pattern = error.keyPattern, let value = error.keyValue,
                !pattern.keys.contains(where: { gate.hides(path: $0) })
            else { return true }
            var filter = BSONDocument()
            for (key, value) in value { filter.append(key, ["$eq": value]) }
            return try find(namespace, filter: try Filter(filter), options: .first).isEmpty
        case .documentValidationFailure: return gate.hidesFields
        default: return gate.hidesFields && error.code != .unauthorized
        }
    }
}
