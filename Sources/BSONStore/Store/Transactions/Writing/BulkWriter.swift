/// The performance of several writes, each of which succeeds as a whole or changes nothing.
struct BulkWriter {
    /// The updates and deletes.
    let updates: UpdateExecutor

    /// Performs several writes, and reports each changed document.
    ///
    /// - Parameter note: receives each changed document within its write; an error that it throws
    ///   undoes that write and is rethrown.
    /// - Parameter within: runs each write with its notes; it rethrows the error of an undone one.
    func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool,
        noting note: ((DocumentImages) throws -> Void)?,
        within: (() throws -> Void) throws -> Void = { try $0() }
    ) throws -> BulkWriteResult {
        // All writes have one `$$NOW`, as the statements of a command.
        try CommandTime.$current.withValue(
            CommandTime.current ?? CommandTime(clusterTime: nil)
        ) {
            try performAll(namespace, writes, ordered: ordered, noting: note, within: within)
        }
    }

    private func performAll(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool,
        noting note: ((DocumentImages) throws -> Void)?,
        within: (() throws -> Void) throws -> Void
    ) throws -> BulkWriteResult {
        var result = BulkWriteResult()
        for (index, write) in writes.enumerated() {
            do {
                if note == nil {
                    // A refused write has changed nothing.
                    try perform(write, at: index, on: namespace, &result, nil)
                } else {
                    try within {
                        try updates.policyWriter.writer.savepoint {
                            try perform(write, at: index, on: namespace, &result, note)
                        }
                    }
                }
            } catch let error as StoreError where error.concernsWrite {
                result.errors.append(BulkWriteResult.WriteError(index: index, error: error))
                if ordered { break }
            }
        }
        return result
    }

    private func perform(
        _ write: BulkWrite, at index: Int, on namespace: Namespace,
        _ result: inout BulkWriteResult, _ note: ((DocumentImages) throws -> Void)?
    ) throws {
        switch write {
        case .insertOne(let document):
            let inserted = try updates.policyWriter.insert(
                WallClock.fillingTimestamps(in: document), namespace
            )
            .document
            try note?(DocumentImages(before: nil, after: inserted))
            result.insertedCount += 1
            result.insertedIDs[index] = inserted["_id"]
        case .updateOne(let filter, let update, let options):
            let outcome = try updates.updateOne(
                namespace, filter: try options.filter(filter),
                update: try options.update(update), upsert: options.upsert, sort: nil)
            try result.add(outcome, at: index, note)
        case .updateMany(let filter, let update, let options):
            let outcome = try updates.updateMany(
                namespace, filter: try options.filter(filter),
                update: try options.update(update), upsert: options.upsert,
                keepImages: note != nil, within: nil)
            try result.add(outcome, at: index, note)
        case .replaceOne(let filter, let document, let options):
            let outcome = try updates.replaceOne(
                namespace, filter: try options.filter(filter), document: document,
                upsert: options.upsert, sort: nil)
            try result.add(outcome, at: index, note)
        case .deleteOne(let filter, let options):
            let taken = try updates.deleteOne(
                namespace, filter: try options.filter(filter), sort: nil)
            if let taken { try note?(DocumentImages(before: taken, after: nil)) }
            result.deletedCount += taken == nil ? 0 : 1
        case .deleteMany(let filter, let options):
            var taken: [BSONDocument] = []
            let count = try updates.deleteMany(
                namespace, filter: try options.filter(filter), within: nil
            ) {
                if note != nil { taken.append($0) }
            }
            for document in taken { try note?(DocumentImages(before: document, after: nil)) }
            result.deletedCount += count
        }
    }

    /// Adds documents; each is added as a whole or not at all.
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Throws: SQLite's errors; abandon the transaction then.
    func insertEach(
        _ namespace: Namespace, _ documents: [BSONDocument], ordered: Bool
    ) throws(StoreError) -> InsertManyResult {
        var inserted = InsertManyResult()
        inserted.ids.reserveCapacity(documents.count)
        for (index, document) in documents.enumerated() {
            do throws(StoreError) {
                let document = WallClock.fillingTimestamps(in: document)
                inserted.ids.append(try updates.policyWriter.insert(document, namespace).id)
            } catch {
                guard error.concernsWrite else { throw error }
                inserted.errors.append(BulkWriteResult.WriteError(index: index, error: error))
                if ordered { break }
            }
        }
        return inserted
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
