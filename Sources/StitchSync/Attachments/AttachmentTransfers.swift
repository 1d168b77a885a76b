internal import BSONStore

/// The files beside an engine's documents: their contents on the device and their transfers.
///
/// Nothing of it exists until the app attaches or asks for a file, or sets an ``AttachmentPolicy``.
final class AttachmentTransfers: Sendable {
    private struct State {
        var cache: AttachmentCache?
        var policies: [Namespace: AttachmentPolicy] = [:]
        /// The most bytes of files that the remote has, too; `nil` for no limit.
        var cacheLimit: Int64?
        /// Documents that changed since the last round.
        var changed: Set<AttachmentRecord.Owner> = []
        /// Files whose references are not at the remote, or not any more, and are uploaded.
        var added: Set<BSONObjectID> = []
        /// Collections of which every document is to be looked at.
        var unread: Set<Namespace> = []
        /// The number of bytes that the remote has, of files that are being sent.
        var sent: [BSONObjectID: Int64] = [:]
        /// Files of which the remote had nothing when it was asked.
        var onItsWay: Set<BSONObjectID> = []
        /// The number of calls that read a file's content, which stays so long.
        var readers: [BSONObjectID: Int] = [:]
        /// The documents that refer to a file which is to be loaded, where there are several.
        var owners: [BSONObjectID: [AttachmentRecord.Owner]] = [:]
        /// The files in ``owners`` by their documents.
        var shared: [AttachmentRecord.Owner: Set<BSONObjectID>] = [:]
        /// Why files failed that failed when they were last tried.
        var problems: [BSONObjectID: String] = [:]
        /// The last failures of files that ``SyncEngine/run()`` has not reported.
        var unreported: [BSONObjectID: SyncError] = [:]
        /// Whether the documents that left the device are to be looked at, also those that a round has
        /// looked at already.
        var looksAtLeft = true
        /// The newest document of those that left which a round has looked at, by its row.
        var lastLeft: Int64 = 0
        /// Whether the files of an earlier start were looked at.
        var isSettled = false
        /// Whether files wait for a document that a pass may send.
        var isWaiting = false
        /// Files that are here only and whose holders are to be looked at.
        var unreferenced: Set<BSONObjectID> = []
        /// Files that are here only and that no document holds, with what holds them.
        var held: [BSONObjectID: AttachmentHolders.Holder] = [:]
        /// Whether a pass ended since the files in ``held`` were looked at.
        var looksAtHeld = false
    }

    private let documents: DocumentStore
    private let remote: any Remote
    let requests: RemoteRequests
    /// Whether each piece waits for the answer to the one before, so that a test can repeat its run.
    let isInOrder: Bool
    private let state = Locked(State())
    private let rounds = PassQueue()
    /// The turns of files that are loaded, one at a time, for the app or in a round.
    let loads = PassQueue()
    /// Signals that files may be due.
    let wakes = Signal()
    /// Signals that the state of a file may have changed.
    let changes = Signal()

    init(
        _ documents: DocumentStore, _ remote: any Remote, _ requests: RemoteRequests,
        isInOrder: Bool
    ) {
        self.documents = documents
        self.remote = remote
        self.requests = requests
        self.isInOrder = isInOrder
    }

    /// Whether the app uses files, so that changed documents are looked at.
    var isUsed: Bool { state.withLock { $0.cache != nil || !$0.policies.isEmpty } }

    /// Whether the device has files, also those that an earlier start or another process has stored.
    var mayHaveFiles: Bool {
        if isUsed { return true }
        guard case .file(let path) = AttachmentCache.location(beside: documents.location) else {
            return false
        }
        return LocalFile.exists(path)
    }

    /// Returns the contents; opens their store at the first call.
    func cache() throws -> AttachmentCache {
        try documents.checkIsOpen()
        return try state.withLock { state in
            if let cache = state.cache { return cache }
            let cache = try AttachmentCache(beside: documents)
            state.cache = cache
            return cache
        }
    }

    /// Opens the contents that an earlier start of the app has stored.
    func openIfStored() throws {
        guard case .file(let path) = AttachmentCache.location(beside: documents.location),
            LocalFile.exists(path)
        else { return }
        _ = try cache()
    }

    /// Whether a call reads a file's content now.
    func isBeingRead(_ id: BSONObjectID) -> Bool { state.withLock { $0.readers[id] != nil } }

    /// Closes the store of the contents.
    func close() {
        let cache = state.withLock { state in
            defer { state.cache = nil }
            return state.cache
        }
        cache?.close()
    }

    func configure(_ namespace: Namespace, _ policy: AttachmentPolicy) {
        state.withLock { state in
            guard policy.loads != nil else {
                state.policies[namespace] = nil
                return
            }
            state.policies[namespace] = policy
            state.unread.insert(namespace)
        }
        wakes.notify()
    }

    func limitCache(to bytes: Int64?) {
        state.withLock { $0.cacheLimit = bytes }
        wakes.notify()
    }

    // MARK: - Notes

    /// Notes documents that were written or removed.
    func note(_ ids: [BSONValue], in namespace: Namespace) {
        guard !ids.isEmpty else { return }
        state.withLock { state in
            for id in ids {
                state.changed.insert(.init(namespace: namespace, documentID: id))
            }
        }
        wakes.notify()
    }

    /// Notes files whose references are uploaded; the remote may have removed those that it had.
    func note(added files: [BSONObjectID]) {
        guard !files.isEmpty else { return }
        state.withLock { $0.added.formUnion(files) }
        wakes.notify()
    }

    /// Notes the end of a pass, after which files may be due.
    ///
    /// - Parameter changedSubscriptions: whether many documents may be new.
    func notePass(changedSubscriptions: Bool) {
        let isDue = state.withLock { state in
            if changedSubscriptions {
                state.unread.formUnion(state.policies.keys)
                // Some of them may be back.
                state.looksAtLeft = true
            }
            // The remote may have, or have refused, the change that a file waits for.
            state.looksAtHeld = true
            return changedSubscriptions || state.isWaiting || !state.unread.isEmpty
                || !state.held.isEmpty || !state.unreferenced.isEmpty
        }
        if isDue { wakes.notify() }
    }

    /// Notes how much of a file the remote has; `nil` once it is not being sent.
    func note(_ id: BSONObjectID, sent bytes: Int64?) {
        state.withLock {
            $0.sent[id] = bytes
            $0.onItsWay.remove(id)
        }
        changes.notify()
    }

    /// Notes a file that failed; the same reason is reported once.
    func note(_ record: AttachmentRecord, failedAs problem: String) {
        let id = record.attachment.id
        state.withLock { state in
            guard state.problems.updateValue(problem, forKey: id) != problem else { return }
            let name = record.attachment.name.map { " (\($0))" } ?? ""
            state.unreported[id] = SyncError(
                .fileFailed, "the file \(id)\(name) is not sent or loaded: \(problem)",
                namespace: record.owner?.namespace, documentID: record.owner?.documentID)
        }
        changes.notify()
    }

    /// The greatest number of documents with the same reference that are asked for its file.
    private static let ownersMax = 16

    /// Returns the documents that refer to a file, where there are several.
    func owners(of attachment: Attachment) -> [AttachmentRecord.Owner] {
        state.withLock { $0.owners[attachment.id] ?? [] }
    }

    /// Notes a document that has the same reference as the one of a record: only one of them gets the file.
    private func note(_ owner: AttachmentRecord.Owner, besideThatOf record: AttachmentRecord) {
        state.withLock { state in
            var owners = state.owners[record.attachment.id] ?? []
            for one in [record.owner, owner].compactMap(\.self)
            where !owners.contains(one) && owners.count < Self.ownersMax {
                owners.append(one)
                state.shared[one, default: []].insert(record.attachment.id)
            }
            state.owners[record.attachment.id] = owners
        }
    }

    /// Notes that a document refers to some files only; others that refer to the rest are looked at again.
    private func forget(_ owner: AttachmentRecord.Owner, except attachments: [Attachment]) {
        let isChanged = state.withLock { state in
            guard let shared = state.shared[owner] else { return false }
            let gone = shared.subtracting(attachments.map(\.id))
            for id in gone {
                let owners = state.owners[id] ?? []
                let rest = owners.filter { $0 != owner }
                state.owners[id] = rest.count > 1 ? rest : nil
                state.changed.formUnion(rest)
                let left = rest.count > 1 ? [owner] : owners
                for one in left {
                    state.shared[one]?.remove(id)
                    if state.shared[one]?.isEmpty == true { state.shared[one] = nil }
                }
            }
            return !gone.isEmpty
        }
        if isChanged { wakes.notify() }
    }

    /// Notes that a file did not fail when it was tried again, or is not needed any more.
    func noteSuccess(_ id: BSONObjectID) {
        state.withLock { ($0.problems[id], $0.unreported[id]) = (nil, nil) }
    }

    private func takeUnreported() -> [SyncError] {
        state.withLock { state in
            defer { state.unreported = [:] }
            return state.unreported.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    func noteOnItsWay(_ id: BSONObjectID) {
        state.withLock { _ = $0.onItsWay.insert(id) }
        changes.notify()
    }

    // MARK: - State

    /// Returns where the content of a file is.
    func state(of attachment: Attachment) throws -> AttachmentState {
        let (cache, sent, isOnItsWay) = state.withLock {
            ($0.cache, $0.sent[attachment.id], $0.onItsWay.contains(attachment.id))
        }
        guard let record = try cache?.record(attachment.id), record.isContent(of: attachment) else {
            return isOnItsWay ? .onItsWay : .atRemote
        }
        if let problem = record.problem { return .failed(problem) }
        switch record.stage {
        case .arriving, .staged, .toSend: return .sending(sent ?? 0)
        case .here: return .here
        case .removing: return .atRemote
        case .loading:
            if isOnItsWay { return .onItsWay }
            return record.isWanted ? .loading(record.bytes) : .atRemote
        }
    }

    /// Where the document is whose file is to be sent.
    enum Sender {
        /// On the device; the remote does not have the reference yet.
        case onlyHere
        /// On the device and at the remote, with the reference as it is there.
        case synced(Attachment)
        /// At the remote, with this reference; it left the device without a delete.
        case left(Attachment)
    }

    /// Returns where the document of a file is.
    func sender(of place: AttachmentPlace) throws -> Sender {
        try documents.read { transaction in
            let owner = AttachmentRecord.Owner(
                namespace: place.namespace, documentID: place.documentID)
            let holders = AttachmentHolders(transaction: transaction)
            let left = try holders.leftReferences(of: owner)
            if let reference = left.first(where: place.attachment.hasContent) {
                return .left(reference)
            }
            let local = try transaction.get(place.namespace, id: place.documentID)
            guard let base = try holders.record(of: owner)?.base.document(local: local),
                let reference = place.attachment.reference(in: base)
            else { return .onlyHere }
            return .synced(reference)
        }
    }
}

// MARK: - Rounds

extension AttachmentTransfers {
    /// The age at which a stored content is removed that no document refers to, in milliseconds.
    private static let stagedMax: Int64 = 24 * 3_600 * 1_000

    /// Looks at changed documents, then sends and loads what is due, then evicts what is too much.
    ///
    /// - Parameter carries: whether a file may be sent or loaded now; it is asked before each piece.
    func runRound(
        carrying carries: @escaping @Sendable (Attachment) -> Bool = { _ in true }
    ) async throws -> AttachmentReport {
        guard isUsed else { return AttachmentReport() }
        return try await rounds.run {
            let cache = try cache()
            try await settleEarlierFiles(cache)
            try await readDocuments(cache)
            try await settleUnreferenced(cache)
            guard let files = remote.attachments else { return AttachmentReport() }
            var round = TransferAttachments(self, cache, files, carrying: carries)
            let report = try await round.run()
            state.withLock { $0.isWaiting = report.waiting > 0 }
            if round.hasSettled {
                try await settleLeft(cache)
                try await settleUnreferenced(cache)
            }
            try await evict(cache)
            return report
        }
    }

    /// Loads a file that the app asks for, without a wait for those that are being sent.
    func load(_ attachment: Attachment) async throws -> AttachmentReport {
        let cache = try cache()
        guard let files = remote.attachments else { return AttachmentReport() }
        var round = TransferAttachments(self, cache, files)
        let report = try await round.run(only: attachment.id)
        try await evict(cache)
        return report
    }

    /// Runs rounds until the task is cancelled.
    ///
    /// A store that fails does not end it; the error is reported, and a later round tries again. Each
    /// failure of a file is reported once.
    func run(
        isOnline: @Sendable () -> Bool, carries: @escaping @Sendable (Attachment) -> Bool,
        backoff: Backoff,
        reporting report: @Sendable (SyncError) -> Void
    ) async {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        var isOpened = false
        while !Task.isCancelled {
            let seen = wakes.count
            do {
                defer { for error in takeUnreported() { report(error) } }
                if !isOpened {
                    try openIfStored()
                    isOpened = true
                }
                guard isUsed, isOnline() else {
                    await wakes.wait(after: seen)
                    continue
                }
                failures = try await runRound(carrying: carries).isDone ? 0 : failures + 1
            } catch is CancellationError {
                return
            } catch {
                if failures == 0 { report(Self.fault(error)) }
                failures += 1
            }
            guard failures > 0 else {
                await wakes.wait(after: seen)
                continue
            }
            let jitter = Double.random(in: 0..<1, using: &random)
            do {
                try await wakes.wait(
                    after: seen, atMost: backoff.delay(afterFailures: failures, jitter: jitter),
                    clock: requests.clock)
            } catch {
                return
            }
        }
    }

    private static func fault(_ error: any Error) -> SyncError {
        (error as? SyncError)
            ?? SyncError(
                .storeFailed, "the files beside the documents cannot be sent or loaded: \(error)",
                underlying: error)
    }

    /// Looks once at the files of an earlier start, which may have ended at any point.
    private func settleEarlierFiles(_ cache: AttachmentCache) async throws {
        try await cache.removeAbandoned()
        guard !state.withLock({ $0.isSettled }) else { return }
        for record in try cache.records(.removing) { try await cache.remove(record) }
        var isWithoutOwner = false
        for record in try cache.all() where record.stage != .arriving {
            guard let owner = record.owner else {
                isWithoutOwner = true
                continue
            }
            state.withLock { _ = $0.changed.insert(owner) }
        }
        // Any document may refer to the others: the process may have ended before it looked.
        if isWithoutOwner {
            for namespace in try syncedCollections() { try await readAll(namespace, cache) }
            for record in try cache.records(.staged) where record.owner == nil && isOld(record) {
                try await remove(record, cache)
            }
        }
        state.withLock { $0.isSettled = true }
    }

    private func syncedCollections() throws -> [Namespace] {
        try documents.read {
            try SyncCollectionTable(connection: $0.connection).all().map(\.namespace)
        }
    }

    private func isOld(_ record: AttachmentRecord) -> Bool {
        record.used.milliseconds + Self.stagedMax < BSONDatetime.now.milliseconds
    }

    /// Brings the records in step with the documents: new references get one, and files that no
    /// reference is left to are removed.
    private func readDocuments(_ cache: AttachmentCache) async throws {
        let (changed, unread, added) = state.withLock { state in
            defer { (state.changed, state.unread, state.added) = ([], [], []) }
            if state.looksAtHeld { state.unreferenced.formUnion(state.held.keys) }
            state.looksAtHeld = false
            return (state.changed, state.unread, state.added)
        }
        do {
            // The remote is asked again whether it has them.
            for id in added {
                try await cache.change(id) { if $0.stage == .here { $0.stage = .toSend } }
            }
            try await settleNewlyLeft(cache)
            for owner in changed { try await settle(owner, cache) }
            for namespace in unread { try await readAll(namespace, cache) }
        } catch {
            state.withLock { state in
                state.changed.formUnion(changed)
                state.unread.formUnion(unread)
                state.added.formUnion(added)
            }
            throw error
        }
    }

    /// The number of documents that left the device and are looked at together.
    private static let leftMax = 500

    /// Looks at the documents that left the device, if there are new ones or some may be back.
    private func settleNewlyLeft(_ cache: AttachmentCache) async throws {
        let newest = try documents.read {
            try LeftReferenceTable(connection: $0.connection).newest() ?? 0
        }
        let isDue = state.withLock { state in
            defer { state.looksAtLeft = false }
            return state.looksAtLeft || newest > state.lastLeft
        }
        guard isDue else { return }
        do {
            try await settleLeft(cache)
        } catch {
            state.withLock { $0.looksAtLeft = true }
            throw error
        }
        state.withLock { $0.lastLeft = newest }
    }

    /// Removes the files of documents that left the device, except for those that the remote does not
    /// have yet.
    private func settleLeft(_ cache: AttachmentCache) async throws {
        var last: Int64 = 0
        while true {
            let page = try documents.read {
                try LeftReferenceTable(connection: $0.connection).page(
                    after: last, limit: Self.leftMax)
            }
            guard let end = page.last else { return }
            last = end.row
            var done: [Int64] = []
            for left in page {
                let owner = AttachmentRecord.Owner(
                    namespace: left.namespace, documentID: left.documentID)
                let (isHere, references) = try documents.read { transaction in
                    (
                        try transaction.get(left.namespace, id: left.documentID) != nil,
                        try AttachmentHolders(transaction: transaction).leftReferences(of: owner)
                    )
                }
                if isHere {
                    try await settle(owner, cache)
                } else if try await !settle(references, owner, cache) {
                    continue
                }
                done.append(left.row)
            }
            guard !done.isEmpty else { continue }
            try await documents.write { [done] in
                try LeftReferenceTable(connection: $0.connection).remove(done)
            }
        }
    }

    /// Settles the files of a document that left the device.
    ///
    /// - Parameter references: those in the document; none where the app deleted it.
    /// - Returns: whether none of them is here only.
    private func settle(
        _ references: [Attachment], _ owner: AttachmentRecord.Owner, _ cache: AttachmentCache
    ) async throws -> Bool {
        forget(owner, except: [])
        var isDone = true
        for reference in references {
            guard let record = try cache.record(reference.id), record.isUnsent,
                record.isContent(of: reference)
            else { continue }
            isDone = false
            // The document may have left before a round looked at it.
            if record.owner != owner || record.stage == .staged {
                state.withLock { state in
                    state.held[reference.id] = nil
                    state.unreferenced.insert(reference.id)
                }
            }
        }
        for record in try cache.records(of: owner) {
            switch record.stage {
            case .toSend where references.contains(where: record.isContent): continue
            case .toSend, .loading, .here: try await remove(record, cache)
            case .arriving, .staged, .removing: continue
            }
        }
        return isDone
    }

    /// Ends the attempts to send a file with a document that left the device.
    ///
    /// The file then goes with another document that refers to it, stays for a rejected write, or is
    /// removed.
    func giveUp(_ record: AttachmentRecord) async throws {
        guard let owner = record.owner else { return }
        try await documents.write { transaction in
            let collections = SyncCollectionTable(connection: transaction.connection)
            guard let collection = try collections.existing(owner.namespace) else { return }
            let left = LeftReferenceTable(connection: transaction.connection)
            let references = try left.references(of: owner.documentID, in: owner.namespace)
            try left.set(
                references.filter { !record.isContent(of: $0) }, of: owner.documentID,
                in: collection.rowID)
        }
        state.withLock { _ = $0.unreferenced.insert(record.attachment.id) }
        noteSuccess(record.attachment.id)
        note(record.attachment.id, sent: nil)
    }

    private func readAll(_ namespace: Namespace, _ cache: AttachmentCache) async throws {
        var found: [AttachmentRecord.Owner] = []
        try documents.read { transaction in
            try transaction.forEach(namespace) { document in
                guard !Attachment.all(in: document).isEmpty else { return }
                found.append(.init(namespace: namespace, documentID: document.documentID))
            }
        }
        for owner in found { try await settle(owner, cache) }
    }

    /// Brings the records of a document's files in step with the document.
    private func settle(_ owner: AttachmentRecord.Owner, _ cache: AttachmentCache) async throws {
        // The records first: the document that is read afterwards has the reference of each of them that
        // is to be sent, unless the reference was taken out.
        let known = try cache.records(of: owner)
        let attachments = try documents.read { transaction in
            try transaction.get(owner.namespace, id: owner.documentID).map(Attachment.all) ?? []
        }
        for record in known where !attachments.contains(where: record.isContent) {
            // A reference that is being stored now is in the document soon.
            if record.stage == .staged, !isOld(record) { continue }
            try await remove(record, cache)
        }
        forget(owner, except: attachments)
        for attachment in attachments {
            guard let record = try cache.record(attachment.id) else {
                try await wantIfChosen(attachment, owner, cache)
                continue
            }
            guard record.isContent(of: attachment) else { continue }
            state.withLock { state in
                // A document has the reference again, or also.
                guard state.held.removeValue(forKey: attachment.id) != nil, record.owner != owner
                else { return }
                state.unreferenced.insert(attachment.id)
            }
            let isAttached = record.stage == .staged
            let isOwn = record.owner == nil ? isAttached : record.owner == owner
            // The app may give a file another name.
            let isRenamed = isOwn && !attachments.contains(record.attachment)
            if isAttached || isRenamed {
                try await cache.change(attachment.id) { record in
                    guard record.isContent(of: attachment) else { return }
                    if isRenamed { record.attachment = attachment }
                    if record.stage == .staged { (record.stage, record.owner) = (.toSend, owner) }
                }
            }
            if record.stage == .loading {
                if record.owner != owner { note(owner, besideThatOf: record) }
                if !record.isWanted { try await wantIfChosen(attachment, owner, cache) }
            }
        }
    }

    /// Removes a file to which its document does not refer; if it is here only, its other holders are
    /// looked at first.
    private func remove(_ record: AttachmentRecord, _ cache: AttachmentCache) async throws {
        guard !record.isUnsent else {
            state.withLock { _ = $0.unreferenced.insert(record.attachment.id) }
            return
        }
        try await cache.remove(record)
        noteSuccess(record.attachment.id)
    }

    /// Decides on the files that are here only and whose document may not refer to them any more: each is
    /// sent with a document that does, stays for another holder, or is removed.
    private func settleUnreferenced(_ cache: AttachmentCache) async throws {
        let (ids, known) = state.withLock { ($0.unreferenced, Set($0.held.keys)) }
        guard !ids.isEmpty else { return }
        // As they are now: a round that ended early may have noted them long ago.
        let records = try ids.sorted().compactMap { try cache.record($0) }.filter(\.isUnsent)
        let holders = try documents.read {
            try AttachmentHolders(transaction: $0).holders(
                of: records, knownWithoutDocument: known)
        }
        for id in ids.subtracting(records.map(\.attachment.id)) { noteHolder(nil, of: id) }
        for record in records {
            guard let holder = holders[record.attachment.id] else { continue }
            if case .document(let owner, let reference) = holder {
                try await assign(reference, to: owner, cache)
            }
            noteHolder(holder, of: record.attachment.id)
        }
        for record in records where holders[record.attachment.id] == nil {
            // The removal of another file takes its time: what was written meanwhile is looked at first.
            guard state.withLock({ $0.changed.isEmpty }) else {
                wakes.notify()
                return
            }
            // A reference that is being stored now is in the document soon.
            if record.stage != .staged || isOld(record) {
                try await cache.remove(record)
                noteSuccess(record.attachment.id)
            }
            noteHolder(nil, of: record.attachment.id)
        }
    }

    /// Notes what holds a file after its holders were looked at.
    private func noteHolder(_ holder: AttachmentHolders.Holder?, of id: BSONObjectID) {
        state.withLock { state in
            state.unreferenced.remove(id)
            switch holder {
            case .missingDocument, .write: state.held[id] = holder
            case .document, nil: state.held[id] = nil
            }
        }
    }

    /// Has a file sent with a document that refers to it.
    private func assign(
        _ reference: Attachment, to owner: AttachmentRecord.Owner, _ cache: AttachmentCache
    ) async throws {
        let isChanged = try await cache.change(reference.id) { record in
            guard record.isUnsent, record.isContent(of: reference) else { return }
            // What the remote answered concerned the other document.
            if record.owner != owner { (record.unknownSince, record.problem) = (nil, nil) }
            (record.stage, record.owner, record.attachment) = (.toSend, owner, reference)
        }
        if isChanged { wakes.notify() }
    }

    /// Whether a file only waits until the app decides about a rejected write, or until the remote has a
    /// pending change that takes the reference out.
    func isKept(_ id: BSONObjectID) -> Bool {
        state.withLock { state in
            switch state.held[id] {
            case .write: true
            case .document, .missingDocument, nil: false
            }
        }
    }

    /// Notes that a file is to be loaded, if the collection's policy says so.
    private func wantIfChosen(
        _ attachment: Attachment, _ owner: AttachmentRecord.Owner, _ cache: AttachmentCache
    ) async throws {
        guard let loads = state.withLock({ $0.policies[owner.namespace]?.loads }) else { return }
        guard await loads(attachment) else { return }
        try await want(attachment, owner, cache)
    }

    /// Notes that a file is to be loaded, and for which document.
    func want(
        _ attachment: Attachment, _ owner: AttachmentRecord.Owner, _ cache: AttachmentCache
    ) async throws {
        let wanted = AttachmentRecord(
            attachment: attachment, stage: .loading, owner: owner, bytes: 0, isWanted: true)
        while true {
            guard let record = try cache.record(attachment.id) else {
                if try await cache.add(wanted) { return }
                continue
            }
            if record.stage == .removing {
                if try await cache.takeOverRemoval(for: wanted) { return }
                continue
            }
            if record.isContent(of: attachment) {
                try await cache.change(attachment.id) { record in
                    guard record.stage == .loading, record.isContent(of: attachment) else { return }
                    (record.isWanted, record.problem, record.owner) = (true, nil, owner)
                }
                // A removal may have begun in between.
                guard try cache.record(attachment.id)?.stage == .removing else { return }
                continue
            }
            // One of them is forged. What the remote does not have stays; else the one that is asked for
            // may be the right one.
            guard record.stage == .here || record.stage == .loading else { return }
            try await cache.remove(record)
        }
    }

    /// Runs a body that reads a file's content, which no limit evicts meanwhile.
    func reading<R>(_ id: BSONObjectID, _ body: () async throws -> R) async rethrows -> R {
        state.withLock { $0.readers[id, default: 0] += 1 }
        defer {
            state.withLock { state in
                let left = (state.readers[id] ?? 1) - 1
                state.readers[id] = left > 0 ? left : nil
            }
        }
        return try await body()
    }

    /// Evicts the contents that were not used for the longest time, also those of which a part was loaded
    /// that is not wanted any more, until the rest fits; the newest one stays in any case, since it was
    /// loaded for a reader.
    private func evict(_ cache: AttachmentCache) async throws {
        guard let limit = state.withLock({ $0.cacheLimit }) else { return }
        let parts = try cache.records(.loading).filter { $0.bytes > 0 && !$0.isWanted }
        let here = try (cache.records(.here) + parts)
            .sorted { $0.used.milliseconds < $1.used.milliseconds }
        var total = here.reduce(Int64(0)) { $0 + $1.bytes }
        for record in here.dropLast() where total > limit {
            guard !isBeingRead(record.attachment.id), try await cache.evict(record) else {
                continue
            }
            total -= record.bytes
            changes.notify()
        }
    }
}
