import BSONStore

/// The import of a file's documents into a collection, with a report of each rejected line.
struct Importer {
    /// The counts of an import.
    struct Tally: Sendable, Equatable {
        /// The number of imported documents.
        var imported = 0
        /// The number of rejected lines.
        var rejected = 0
    }

    /// The target collection.
    let namespace: Namespace
    /// The file's name in messages.
    let name: String
    private let descriptor: Descriptor
    private let isDump: Bool
    private let console: Console
    /// The largest number of rejected documents that are named; the others are counted.
    private let faultsShownMax: Int

    init(
        _ descriptor: Descriptor, name: String, isDump: Bool, into namespace: Namespace,
        console: Console, faultsShownMax: Int = .max
    ) {
        self.descriptor = descriptor
        self.isDump = isDump
        self.name = name
        self.namespace = namespace
        self.console = console
        self.faultsShownMax = faultsShownMax
    }

    /// Imports the valid documents and commits after each batch.
    ///
    /// A collection that accepts no documents is refused before the first line is read.
    func importValid(into store: DocumentStore) throws -> Tally {
        try store.read { try $0.checkIsFree(namespace) }
        return try eachBatch { batch in
            try store.write { transaction in try insert(&batch, transaction) }
        }
    }

    /// Imports everything in one transaction, or nothing when a line is rejected.
    func importAllOrNothing(into store: DocumentStore) throws -> Tally {
        do {
            return try store.write { transaction in
                try transaction.checkIsFree(namespace)
                let tally = try eachBatch { batch in try insert(&batch, transaction) }
                guard tally.rejected == 0 else { throw Rejected(tally: tally) }
                return tally
            }
        } catch let error as Rejected {
            return Tally(imported: 0, rejected: error.tally.rejected)
        }
    }

    /// Passes each batch to a body, which moves refused documents to the batch's faults.
    private func eachBatch(
        _ body: (inout DocumentReader.Batch) throws -> Void
    ) throws -> Tally {
        var tally = Tally()
        var reader = try DocumentReader(descriptor, isDump: isDump)
        var progress = ProgressBar(
            "reading \(name)", unit: "bytes", total: descriptor.byteCount, on: console.error,
            isForPeople: true)
        while var batch = try reader.nextBatch() {
            try body(&batch)
            let faults = batch.faults.sorted { $0.line < $1.line }
            for (line, fault) in faults.prefix(max(0, faultsShownMax - tally.rejected)) {
                let place = isDump ? "\(name): document \(line)" : "\(name):\(line)"
                try progress.interrupt("\(place): rejected: \(fault)")
            }
            tally.imported += batch.documents.count
            tally.rejected += batch.faults.count
            try progress.show(reader.byteCount)
        }
        try progress.finish()
        if tally.rejected > faultsShownMax {
            try console.warn(
                "and \(tally.rejected - faultsShownMax) more rejected; --errors 0 names all")
        }
        return tally
    }

    private func insert(
        _ batch: inout DocumentReader.Batch, _ transaction: WriteTransaction
    ) throws(StoreError) {
        var stored: [(line: Int, document: BSONDocument)] = []
        for (line, document) in batch.documents {
            do throws(StoreError) {
                try transaction.insert(namespace, document)
                stored.append((line, document))
            } catch {
                guard let fault = ImportLineError(error, id: document["_id"] ?? .null) else {
                    throw error
                }
                batch.faults.append((line, fault))
            }
        }
        batch.documents = stored
    }

    /// The error that rolls back a transaction with rejected lines.
    private struct Rejected: Error {
        let tally: Tally
    }
}
