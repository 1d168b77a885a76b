/// One write of several that are sent together.
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

    /// What a write may have beside its documents.
    public struct Options: Sendable {
        /// Inserts a document when none matches the filter.
        public var upsert: Bool
        /// Which array elements `$[name]` in a path stands for.
        public var arrayFilters: [BSONDocument]
        /// How texts compare in the filter and in the update.
        public var collation: Collation?
        /// Values that a pipeline may name as `$$name`.
        public var variables: BSONDocument

        /// Makes options; what is left out has its default.
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
    /// Does several writes, each of them wholly or not at all.
    ///
    /// - Parameter ordered: whether the first write that is refused ends it; otherwise the rest is
    ///   done all the same.
    /// - Returns: what was done and which writes were refused and why.
    /// - Throws: SQLite's errors; the transaction should then be given up.
    @discardableResult
    public func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try bulkWrite(namespace, writes, ordered: ordered, noting: nil)
    }

    /// Does several writes as ``bulkWrite(_:_:ordered:)`` does.
    ///
    /// - Parameter note: told of each document that is different now, inside of its write; what it
    ///   throws takes that write back and is thrown.
    package func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool,
        noting note: ((DocumentImages) throws -> Void)?
    ) throws -> BulkWriteResult {
        var result = BulkWriteResult()
        for (index, write) in writes.enumerated() {
            do {
                if note == nil {
                    // A write that is refused for what it is has written nothing.
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
    /// Adds documents, each of them wholly or not at all.
    ///
    /// - Parameter ordered: whether the first document that is refused ends it.
    /// - Throws: SQLite's errors; the transaction is then of no use.
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

/// Lists documents that were added together, and those that were refused.
package struct InsertManyResult: Sendable {
    /// The `_id`s of the documents that were added, in order.
    package fileprivate(set) var ids: [BSONValue] = []
    /// The documents that were refused, in order.
    package fileprivate(set) var errors: [BulkWriteResult.WriteError] = []

    /// Returns the `_id`s when all documents were added.
    ///
    /// - Throws: the first refusal, with what was done as its `writes`.
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
    /// Whether a write was refused for what it is, so that others can go on.
    var concernsWrite: Bool {
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
