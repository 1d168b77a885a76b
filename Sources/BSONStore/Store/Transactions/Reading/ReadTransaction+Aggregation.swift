extension ReadTransaction {
    /// Calls a body with each document of a pipeline's result until the body returns false.
    ///
    /// - Parameters:
    ///   - namespace: the collection; the name "$cmd.aggregate" stands for the whole database.
    ///   - now: `$$NOW` in milliseconds since 1970.
    /// - Throws: errors with MongoDB's codes and messages for values that a stage rejects; 292 when
    ///   a stage would hold more than 100 MiB; 10334 for a document of more than 16 MiB.
    public func aggregate(
        _ namespace: Namespace, _ pipeline: Pipeline, now: BSONDatetime = .now,
        _ body: @escaping (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let collation = try onTable(namespace) { $0.collation } ?? nil
        let pipeline = try pipeline.adapted(to: collation)
        try pipeline.run(on: namespace, from: self, now: now) { (document) throws(StoreError) in
            guard document.byteCount <= ExpressionLimits.bytesMax else {
                throw ExpressionLimits.tooLarge(document.byteCount)
            }
            return try body(document)
        }
    }

    /// Runs a pipeline on a collection and returns its documents; none when it writes them.
    ///
    /// - Throws: as ``aggregate(_:_:now:_:)`` does; `illegalOperation` (20) when the pipeline
    ///   writes and the transaction only reads.
    public func aggregate(
        _ namespace: Namespace, _ pipeline: Pipeline, now: BSONDatetime = .now
    ) throws(StoreError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        try aggregate(namespace, pipeline, now: now) { document in
            documents.append(document)
            return true
        }
        return documents
    }
}

extension ReadTransaction: AggregationSource {
    package func forEach(
        _ namespace: Namespace, _ selection: AggregationSelection,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let options = try FindOptions(
            sort: selection.sort, skip: selection.skip, limit: selection.limit,
            hint: selection.hint)
        try visit(namespace, selection.filter.bound(to: selection.frame), options, body)
    }

    package func count(
        _ namespace: Namespace, _ selection: AggregationSelection
    ) throws(StoreError) -> Int {
        guard selection.hint == nil else {
            var found = 0
            try forEach(namespace, selection) { _ in
                found += 1
                return true
            }
            return found
        }
        let filter = try resolved(selection.filter, namespace).bound(to: selection.frame)
        guard selection.limit > 0 else {
            return max(0, try count(namespace, filter: filter) - selection.skip)
        }
        let end = FindOptions.end(skip: selection.skip, limit: selection.limit) ?? .max
        var found = 0
        try scan(namespace, filter, try plan(namespace, filter, nil)) { _, _ in
            found += 1
            return found < end
        }
        return min(selection.limit, max(0, found - selection.skip))
    }

    package func isIndexed(_ namespace: Namespace, _ field: String) throws(StoreError) -> Bool {
        try indexes(namespace).contains { index in
            index.isOrdered && !index.isHidden && !index.isSparse && index.partialFilter == nil
                && index.document["collation"] == nil && index.keyPattern.keys.first == field
        }
    }

    package func isUnique(_ namespace: Namespace, _ fields: [String]) throws(StoreError) -> Bool {
        guard fields != ["_id"] else { return true }
        return try indexes(namespace).contains { index in
            index.isUnique && index.partialFilter == nil && index.document["collation"] == nil
                && Set(names: index.keyPattern.keys) == Set(names: fields)
        }
    }

    package func placeIndexes(_ namespace: Namespace) throws(StoreError) -> [[GeoIndexField]]? {
        let all = try indexes(namespace)
        guard !all.isEmpty else { return nil }
        return all.filter { !$0.isHidden }.map { index in
            index.keys.compactMap { key in
                guard case .special(let name) = key.kind,
                    let kind = GeoIndexField.Kind(rawValue: name)
                else { return nil }
                return GeoIndexField(path: key.path, kind: kind)
            }
        }
    }

    package func target() throws(StoreError) -> any AggregationTarget {
        guard let target = self as? WriteTransaction else {
            throw StoreError(
                .illegalOperation, "$merge and $out need a transaction that can write")
        }
        return target
    }
}

extension WriteTransaction: AggregationTarget {
    package func first(
        _ namespace: Namespace, _ filter: Filter
    ) throws(StoreError) -> BSONDocument? {
        try find(namespace, filter: filter, options: .first).first
    }

    package func add(_ namespace: Namespace, _ document: BSONDocument) throws(StoreError) {
        try insert(namespace, document)
    }

    package func replace(
        _ namespace: Namespace, _ old: BSONDocument, by new: BSONDocument
    ) throws(StoreError) {
        try put(namespace, new)
    }

    package func setting(
        _ fields: BSONDocument, in existing: BSONDocument
    ) throws(StoreError) -> BSONDocument? {
        try Update(["$set": .document(fields)]).apply(to: existing)
    }

    package func fill(_ namespace: Namespace, _ documents: [BSONDocument]) throws(StoreError) {
        if let gate = gate(namespace) { throw gate.refusal(of: [:]) }
        do {
            try savepoint {
                try deleteMany(namespace, filter: .all)
                try onTableForWriting(namespace) { _ in }
                for document in documents { try insert(namespace, document) }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.internalError, "\(error)", underlying: error)
        }
    }
}
