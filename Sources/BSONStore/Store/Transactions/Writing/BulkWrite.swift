/// One write of a bulk.
public enum BulkWrite: Sendable {
    /// Adds a document.
    case insertOne(BSONDocument)
    /// Changes the first document that matches the filter, by operators or a pipeline.
    case updateOne(BSONDocument, BSONValue, options: Options = Options())
    /// Changes every document that matches the filter, by operators or a pipeline.
    case updateMany(BSONDocument, BSONValue, options: Options = Options())
    /// Puts a document in place of the first one that matches the filter.
    case replaceOne(BSONDocument, BSONDocument, options: Options = Options())
    /// Removes the first document that matches the filter.
    case deleteOne(BSONDocument, options: Options = Options())
    /// Removes every document that matches the filter.
    case deleteMany(BSONDocument, options: Options = Options())

    /// The options of a write.
    public struct Options: Sendable {
        /// Whether to insert a document when none matches the filter.
        public var upsert: Bool
        /// The filters that `$[name]` in a path refers to.
        public var arrayFilters: [BSONDocument]
        /// The collation of strings in the filter and the update.
        public var collation: Collation?
        /// The values that a pipeline can refer to as `$$name`.
        public var variables: BSONDocument

        /// Makes options; each omitted one has its default.
        public init(
            upsert: Bool = false, arrayFilters: [BSONDocument] = [], collation: Collation? = nil,
            variables: BSONDocument = [:]
        ) {
            self.upsert = upsert
            self.arrayFilters = arrayFilters
            self.collation = collation
            self.variables = variables
        }
    }
}

extension WriteTransaction {
    /// Performs several writes; each succeeds as a whole or changes nothing.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is done
    ///   all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: SQLite's errors; abandon the transaction then.
    @discardableResult
    public func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try bulkWrite(namespace, writes, ordered: ordered, noting: nil)
    }

    /// Performs several writes as ``bulkWrite(_:_:ordered:)`` does, and reports each changed
    /// document.
    ///
    /// - Parameter note: receives each changed document within its write; an error that it throws
    ///   undoes that write and is rethrown.
    package func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool,
        noting note: ((DocumentImages) throws -> Void)?
    ) throws -> BulkWriteResult {
        var result = BulkWriteResult()
        for (index, write) in writes.enumerated() {
            do {
                if note == nil {
                    // A refused write has changed nothing.
                    try carryOut(write, at: index, on: namespace, &result, nil)
                } else {
                    try savepoint { try carryOut(write, at: index, on: namespace, &result, note) }
                }
            } catch let error as StoreError where error.concernsWrite {
                result.errors.append(BulkWriteResult.WriteError(index: index, error: error))
                if ordered { break }
            }
        }
        return result
    }

    private func carryOut(
        _ write: BulkWrite, at index: Int, on namespace: Namespace,
        _ result: inout BulkWriteResult, _ note: ((DocumentImages) throws -> Void)?
    ) throws {
        switch write {
        case .insertOne(let document):
            let inserted = try insert(namespace, document.withTimestampsFilled)
            try note?(DocumentImages(before: nil, after: inserted))
            result.insertedCount += 1
            result.insertedIDs[index] = inserted["_id"]
        case .updateOne(let filter, let update, let options):
            let outcome = try updateOne(
                namespace, filter: try options.filter(filter),
                update: try options.update(update), upsert: options.upsert)
            try result.add(outcome, at: index, note)
        case .updateMany(let filter, let update, let options):
            let outcome = try updateMany(
                namespace, filter: try options.filter(filter),
                update: try options.update(update), upsert: options.upsert,
                keepImages: note != nil)
            try result.add(outcome, at: index, note)
        case .replaceOne(let filter, let document, let options):
            let outcome = try replaceOne(
                namespace, filter: try options.filter(filter), document: document,
                upsert: options.upsert)
            try result.add(outcome, at: index, note)
        case .deleteOne(let filter, let options):
            let taken = try deleteOne(namespace, filter: try options.filter(filter))
            if let taken { try note?(DocumentImages(before: taken, after: nil)) }
            result.deletedCount += taken == nil ? 0 : 1
        case .deleteMany(let filter, let options):
            var taken: [BSONDocument] = []
            let count = try deleteMany(namespace, filter: try options.filter(filter)) {
                if note != nil { taken.append($0) }
            }
            for document in taken { try note?(DocumentImages(before: document, after: nil)) }
            result.deletedCount += count
        }
    }
}

extension WriteTransaction {
    /// Adds documents; each is added as a whole or not at all.
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Throws: SQLite's errors; abandon the transaction then.
    package func insertEach(
        _ namespace: Namespace, _ documents: [BSONDocument], ordered: Bool
    ) throws(StoreError) -> InsertManyResult {
        var inserted = InsertManyResult()
        inserted.ids.reserveCapacity(documents.count)
        for (index, document) in documents.enumerated() {
            do throws(StoreError) {
                let document = document.withTimestampsFilled
                inserted.ids.append(try add(document, to: namespace).id)
            } catch {
                guard error.concernsWrite else { throw error }
                inserted.errors.append(BulkWriteResult.WriteError(index: index, error: error))
                if ordered { break }
            }
        }
        return inserted
    }
}

/// The added and the refused documents of one call.
package struct InsertManyResult: Sendable {
    /// The `_id`s of the documents that were added, in order.
    package fileprivate(set) var ids: [BSONValue] = []
    /// The documents that were refused, in order.
    package fileprivate(set) var errors: [BulkWriteResult.WriteError] = []

    /// Returns the `_id`s if all documents were added.
    ///
    /// - Throws: the first refusal; its `writes` counts what was done.
    func whole() throws(StoreError) -> [BSONValue] {
        guard var refusal = errors.first?.error else { return ids }
        var result = BulkWriteResult(errors: errors)
        let refused = Set(errors.map(\.index))
        var index = 0
        for id in ids {
            while refused.contains(index) { index += 1 }
            result.insertedIDs[index] = id
            index += 1
        }
        result.insertedCount = ids.count
        refusal.writes = result
        throw refusal
    }
}

extension BulkWrite.Options {
    func filter(_ document: BSONDocument) throws(StoreError) -> Filter {
        try EvaluationOptions(collation: collation).filter(document)
    }

    func update(_ value: BSONValue) throws(StoreError) -> Update {
        let update = try Update(
            value, variables: variables, arrayFilters: arrayFilters, collation: collation)
        guard !update.isReplacement else {
            throw StoreError(
                .failedToParse, "the update operation document must contain atomic operators")
        }
        return update
    }
}

extension StoreError {
    /// Whether the error concerns one write only, so that others can continue.
    package var concernsWrite: Bool {
        sqliteCode == nil || code == .duplicateKey
    }
}

extension BulkWriteResult {
    fileprivate mutating func add(
        _ outcome: UpdateResult, at index: Int, _ note: ((DocumentImages) throws -> Void)?
    ) throws {
        if let note { for image in outcome.images { try note(image) } }
        matchedCount += outcome.matchedCount
        modifiedCount += outcome.modifiedCount
        if let id = outcome.upsertedID { upsertedIDs[index] = id }
    }
}
