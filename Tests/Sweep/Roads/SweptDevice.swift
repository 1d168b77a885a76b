import BSONStore
import StitchRules
import StitchSync

/// A device with a store in memory, and the remote that it syncs with.
struct SweptDevice {
    /// The remote's store.
    let remote: DocumentStore
    /// The device's store.
    let store: DocumentStore
    /// The device's engine.
    let engine: SyncEngine
    /// The collection of most roads.
    let items: SyncCollection<BSONDocument>

    /// Makes a device and an empty remote, with rules or without.
    init(rules: RuleSet? = nil) async throws {
        let remote = try Sample.store(history: 1_000_000)
        let user = RuleUser(id: "ann", customData: ["group": 1])
        try self.init(
            remote,
            rules.map { InProcessRemote(store: remote, rules: $0, user: user) }
                ?? InProcessRemote(store: remote))
        await items.configure(conflictHandler: .remoteWins)
    }

    /// Makes one more device of a remote.
    init(sharing other: SweptDevice) async throws {
        try self.init(other.remote, InProcessRemote(store: other.remote))
        await items.configure(conflictHandler: .remoteWins)
    }

    private init(_ remote: DocumentStore, _ reached: any Remote) throws {
        self.remote = remote
        store = try Sample.store()
        engine = try SyncEngine(store: store, remote: reached)
        items = engine.collection(Sample.namespace)
    }

    /// Puts documents with a version into the remote.
    func fillRemote(_ documents: Range<Int>, in namespace: Namespace = Sample.namespace) throws {
        try remote.write { transaction in
            for number in documents {
                try transaction.insert(namespace, Self.versioned(Sample.document(number)))
            }
        }
    }

    /// Puts so many documents into the remote.
    func fillRemote(_ count: Int) throws { try fillRemote(0..<count) }

    /// Returns a document with a first version.
    static func versioned(_ document: BSONDocument) -> BSONDocument {
        var document = document
        document.append(
            DocumentVersion.fieldName,
            ["spv": 1, "id": "0f0e0d0c-0b0a-0908-0706-050403020100", "v": .int64(0)])
        return document
    }

    /// Changes the documents of the remote, as another device does.
    func changeRemote(_ filter: BSONDocument = [:], _ update: BSONDocument) async throws {
        let (filter, update) = (try Filter(filter), try Update(update))
        _ = try await remote.write { transaction in
            try transaction.updateMany(
                Sample.namespace, filter: filter, update: update, keepImages: false)
        }
    }

    /// Runs passes until nothing is left to do.
    @discardableResult
    func sync() async throws -> SyncPassReport {
        let (report, _) = try await engine.syncUntilQuiet()
        await engine.flushEvents()
        if let error = report.errors.first(where: { ![.rejected, .compensatingWrite].contains($0) })
        {
            throw SweptFailure("the pass failed: \(error)")
        }
        return report
    }

    /// Closes the device; fails unless it has so many documents.
    func end(count: Int? = nil, remoteCount: Int? = nil) async throws {
        let (found, remoteFound) = (
            try items.find().count(), try remote.collection(Sample.namespace).find().count()
        )
        await engine.close()
        store.close()
        if let count, found != count { throw SweptFailure("\(found) documents, not \(count)") }
        if let remoteCount, remoteFound != remoteCount {
            throw SweptFailure("\(remoteFound) documents at the remote, not \(remoteCount)")
        }
    }
}

/// The error of a road that did not do what is measured.
struct SweptFailure: Error, CustomStringConvertible {
    let description: String

    /// Makes an error from what it says.
    init(_ description: String) { self.description = description }
}
