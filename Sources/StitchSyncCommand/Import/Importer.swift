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
    private let format: ImportFormat
    private let console: Console
    /// The largest number of rejected documents that are named; the others are counted.
    private let faultsShownMax: Int
    /// Whether nothing is imported after the first rejected line.
    private let stopsOnError: Bool

    init(
        _ descriptor: Descriptor, name: String, format: ImportFormat = .json,
        into namespace: Namespace, console: Console, faultsShownMax: Int = .max,
        stopsOnError: Bool = false
    ) {
        self.descriptor = descriptor
        self.format = format
        self.stopsOnError = stopsOnError
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

    /// Imports the valid documents as a body writes them.
    ///
    /// - Parameter write: writes a batch, in order if the flag is set, and moves the refused
    ///   documents to the batch's faults.
    func importValid(
        by write: (inout DocumentReader.Batch, _ isOrdered: Bool) throws -> Void
    ) throws -> Tally {
        try eachBatch { batch in try write(&batch, stopsOnError) }
    }

    /// Passes each batch to a body, which moves refused documents to the batch's faults.
    private func eachBatch(
        _ body: (inout DocumentReader.Batch) throws -> Void
    ) throws -> Tally {
        var tally = Tally()
        var reader = try DocumentReader(descriptor, format)
        var progress = ProgressBar(
            "reading \(name)", unit: "bytes", total: descriptor.byteCount, on: console.error,
            isForPeople: true)
        while var batch = try reader.nextBatch(stopsAtFault: stopsOnError) {
            try body(&batch)
            var faults = batch.faults.sorted { $0.line < $1.line }
            if stopsOnError { faults = Array(faults.prefix(1)) }
            for (line, fault) in faults.prefix(max(0, faultsShownMax - tally.rejected)) {
                let place = format.isDump ? "\(name): document \(line)" : "\(name):\(line)"
                try progress.interrupt("\(place): rejected: \(fault)")
            }
            tally.imported += batch.documents.count - batch.missedCount
            tally.rejected += faults.count
            try progress.show(reader.byteCount)
            if stopsOnError, !faults.isEmpty { break }
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
                if stopsOnError { break }
            }
        }
        batch.documents = stored
    }

    /// The error that rolls back a transaction with rejected lines.
    private struct Rejected: Error {
        let tally: Tally
    }
}
