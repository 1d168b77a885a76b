internal import BSONStore

/// One round of transfers: files that are due are sent and loaded, one after the other.
struct TransferAttachments {
    let engine: AttachmentTransfers
    let cache: AttachmentCache
    let remote: any RemoteAttachments
    /// Returns whether a file may be sent or loaded now.
    let carries: @Sendable (Attachment) -> Bool
    private var report = AttachmentReport()
    /// Whether the remote has a file now, or does not take it with a document that left the device:
    /// others that refer to it may wait for that.
    private(set) var hasSettled = false
    /// Whether the app waits for the one file that is loaded, and gets its error.
    private var isForApp = false

    init(
        _ engine: AttachmentTransfers, _ cache: AttachmentCache, _ remote: any RemoteAttachments,
        carrying carries: @escaping @Sendable (Attachment) -> Bool = { _ in true }
    ) {
        self.engine = engine
        self.cache = cache
        self.remote = remote
        self.carries = carries
    }

    /// Sends and loads what is due, or only loads one file.
    ///
    /// - Throws: `StoreError` and `SyncError` when a store fails; `CancellationError`. A lost connection
    ///   ends the round and is in the report; an error that concerns one file ends that file's turn.
    mutating func run(only id: BSONObjectID? = nil) async throws -> AttachmentReport {
        do throws(Interrupted) {
            if let id {
                isForApp = true
                try await loadAlone(id)
            } else {
                for record in try storing({ try cache.records(.toSend) })
                where !engine.isKept(record.attachment.id) {
                    try await sendAlone(record)
                }
                for record in try storing({ try cache.records(.loading) }) where record.isWanted {
                    try await loadAlone(record.attachment.id)
                }
            }
        } catch {
            switch error {
            case .remote(let cause): report.error = cause
            case .other(let cause): throw cause
            }
        }
        return report
    }

    /// Sends a file; what is wrong with it alone does not end the round.
    private mutating func sendAlone(_ record: AttachmentRecord) async throws(Interrupted) {
        do throws(Interrupted) {
            try await send(record)
        } catch {
            try await fail(record.attachment.id, error, unknownSince: record.unknownSince)
        }
    }

    /// Loads a file; what is wrong with it alone does not end the round.
    private mutating func loadAlone(_ id: BSONObjectID) async throws(Interrupted) {
        do throws(Interrupted) {
            try await loadInTurn(id)
        } catch {
            try await fail(id, error)
        }
    }

    /// Notes that a file failed, or ends the round if the error concerns others, too.
    private mutating func fail(
        _ id: BSONObjectID, _ error: Interrupted, unknownSince: BSONDatetime? = nil
    ) async throws(Interrupted) {
        guard let record = try storing({ try cache.record(id) }) else {
            if case .remote(let cause) = error, !Self.concernsFile(cause) { throw error }
            return
        }
        switch error {
        case .remote(let cause):
            guard Self.concernsFile(cause) else { throw error }
            // Such as a damaged file at the server, which an operator may mend.
            let isTriedAgain = cause.errorClass != .rejected
            if isTriedAgain { report.error = cause }
            try await fail(
                record, "\(cause)", unknownSince: unknownSince, isTriedAgain: isTriedAgain)
        case .other(let cause):
            guard let cause = cause as? StoreError, AttachmentCache.isDamage(cause) else {
                throw error
            }
            try await fail(record, cause.message, unknownSince: unknownSince)
        }
    }

    /// Whether an error concerns the file that was asked for, and others may be sent or loaded.
    private static func concernsFile(_ error: RemoteError) -> Bool {
        switch error.errorClass {
        case .retryable, .unauthenticated: false
        case .unknown, .rejected, .historyLost, .collectionDropped: true
        }
    }

    /// The end of a round.
    private enum Interrupted: Error {
        case remote(RemoteError)
        case other(any Error)
    }

    private func storing<R>(_ body: () throws -> R) throws(Interrupted) -> R {
        do { return try body() } catch { throw .other(error) }
    }

    private func storing<R>(_ body: () async throws -> R) async throws(Interrupted) -> R {
        do { return try await body() } catch { throw .other(error) }
    }

    /// Asks for pieces, some of them ahead; the answers are taken in the order of the pieces.
    private func ahead<Piece: Sendable, Answer: Sendable>(
        atMost count: Int, next: () throws -> Piece?,
        request: @escaping @Sendable (Piece, any RemoteAttachments) async throws -> Answer,
        take: (Piece, Answer) async throws -> Void
    ) async throws(Interrupted) {
        let (requests, remote) = (engine.requests, remote)
        let most = max(1, min(count, AttachmentPieces.aheadMax))
        let window = min(2, most)...most
        do {
            try Task.checkCancellation()
            try await RequestsAhead(window, isInOrder: engine.isInOrder).run {
                try next()
            } request: { piece in
                try await requests.send { try await request(piece, remote) }
            } take: { piece, answer in
                try await take(piece, answer)
            }
        } catch let error as RemoteError {
            throw .remote(error)
        } catch {
            throw .other(error)
        }
    }

    /// Sends a request within the time limit.
    private func asking<R: Sendable>(
        _ body: @escaping @Sendable (any RemoteAttachments) async throws(RemoteError) -> R
    ) async throws(Interrupted) -> R {
        let remote = remote
        do {
            try Task.checkCancellation()
            return try await engine.requests.send { try await body(remote) }
        } catch let error as RemoteError {
            throw .remote(error)
        } catch {
            throw .other(error)
        }
    }
}

// MARK: - Sending

extension TransferAttachments {
    /// How often a content is sent again that did not have its hash at the remote.
    private static let attemptsMax = 3
    /// The time for which a file is kept whose document left the device, and which the remote does not
    /// know any more or does not take, in milliseconds.
    private static let unknownMax: Int64 = 24 * 3_600 * 1_000

    /// Notes that the remote does not know the document of a file, or does not take the file from the user.
    private mutating func noteUnknown(_ record: AttachmentRecord) async throws(Interrupted) {
        // A piece may have been accepted in this round.
        let current = try storing { try cache.record(record.attachment.id) }
        guard try await !isOver(record, unknownSince: current?.unknownSince) else { return }
        report.waiting += 1
    }

    /// Gives up a file whose document left the device, and that the remote has not taken for a day: until
    /// then, the user may get the right to send it again, or an operator may mend what is wrong.
    ///
    /// - Parameter unknownSince: the first time when the remote did not take it; `nil` for now.
    /// - Returns: whether the file was given up.
    private mutating func isOver(
        _ record: AttachmentRecord, unknownSince: BSONDatetime?
    ) async throws(Interrupted) -> Bool {
        // The document may have come back while the remote was asked.
        guard let place = record.place,
            case .left = try storing({ try engine.sender(of: place) })
        else { return false }
        let now = BSONDatetime.now
        let since = unknownSince ?? now
        guard since.milliseconds + Self.unknownMax < now.milliseconds else {
            try await storing {
                _ = try await cache.change(record.attachment.id) { $0.unknownSince = since }
            }
            return false
        }
        try await storing { try await engine.giveUp(record) }
        hasSettled = true
        return true
    }

    private func noteKnown(_ record: AttachmentRecord) async throws(Interrupted) {
        guard record.unknownSince != nil else { return }
        try await storing {
            _ = try await cache.change(record.attachment.id) { $0.unknownSince = nil }
        }
    }

    /// Sends a file, from where the remote has it.
    private mutating func send(_ record: AttachmentRecord) async throws(Interrupted) {
        guard let known = record.place else {
            report.waiting += 1
            return
        }
        let reference: Attachment
        switch try storing({ try engine.sender(of: known) }) {
        case .onlyHere:
            report.waiting += 1
            return
        case .synced(let stored):
            reference = stored
            try await noteKnown(record)
        case .left(let stored): reference = stored
        }
        // A name that was changed may not be at the remote yet.
        let place = AttachmentPlace(known.namespace, documentID: known.documentID, reference)
        guard mayCarry(record.attachment) else { return }
        var state = try await asking { remote throws(RemoteError) in
            try await remote.state(of: place)
        }
        var (attempts, last) = (0, Int64(-1))
        while true {
            switch state {
            case .complete:
                try await finish(record) { ($0.stage, $0.unknownSince) = (.here, nil) }
                report.sent += 1
                hasSettled = true
                return
            case .unknown: return try await noteUnknown(record)
            case .partial(let offset):
                engine.note(record.attachment.id, sent: offset)
                if offset <= last { attempts += 1 }
                last = offset
                guard attempts < Self.attemptsMax else {
                    return try await fail(
                        record, "the remote found another content than was sent",
                        unknownSince: record.unknownSince)
                }
                guard let next = try await sendPieces(of: record, to: place, from: offset) else {
                    report.heldBack += 1
                    return
                }
                state = next
            }
        }
    }

    /// A piece on its way to the remote.
    private struct OutgoingPiece: Sendable {
        let range: Range<Int64>
        let bytes: [UInt8]
    }

    /// Sends pieces until the file ends, or the remote expects another one.
    ///
    /// - Returns: the state afterwards; `nil` if the file may not be carried now.
    private func sendPieces(
        of record: AttachmentRecord, to place: AttachmentPlace, from offset: Int64
    ) async throws(Interrupted) -> RemoteAttachmentState? {
        var pieces = AttachmentRanges(of: record.attachment, from: offset)
        var isHeldBack = false
        var unexpected: RemoteAttachmentState?
        var isKnown = record.unknownSince == nil
        try await ahead(atMost: remote.putsAhead) { () throws -> OutgoingPiece? in
            guard unexpected == nil, let range = pieces.next() else { return nil }
            guard carries(record.attachment) else {
                isHeldBack = true
                return nil
            }
            let bytes = try cache.read(record, from: range.lowerBound, count: range.count)
            return OutgoingPiece(range: range, bytes: bytes)
        } request: { piece, remote in
            try await remote.put(piece.bytes, at: piece.range.lowerBound, of: place)
        } take: { piece, answer in
            guard unexpected == nil else { return }
            let end = piece.range.upperBound
            guard end < record.attachment.length, answer == .partial(end) else {
                unexpected = answer
                return
            }
            engine.note(record.attachment.id, sent: end)
            guard !isKnown else { return }
            // Who may only read the file gets its state as well.
            isKnown = true
            try await cache.change(record.attachment.id) { $0.unknownSince = nil }
        }
        switch unexpected {
        case .complete, .unknown: return unexpected
        case .partial, nil: if isHeldBack { return nil }
        }
        // One that overtook another one has an old answer, and those behind may have been stored.
        return try await asking { remote throws(RemoteError) in try await remote.state(of: place) }
    }
}

// MARK: - Loading

extension TransferAttachments {
    /// Loads a file once no other one is being loaded, unless it is here by then.
    private mutating func loadInTurn(_ id: BSONObjectID) async throws(Interrupted) {
        let (turns, cache) = (engine.loads, cache)
        do {
            try await turns.run {
                guard let record = try cache.record(id), record.stage == .loading else { return }
                try await load(record)
            }
        } catch let error as Interrupted {
            throw error
        } catch {
            throw .other(error)
        }
    }

    /// Loads a file, from where the device has it.
    private mutating func load(_ old: AttachmentRecord) async throws(Interrupted) {
        guard var place = old.place else { return }
        var record = old
        var others = engine.owners(of: old.attachment).filter { $0 != old.owner }
        loading: while record.bytes < record.attachment.length || record.attachment.length == 0 {
            switch try await loadPieces(of: &record, at: place) {
            case .ofFile: break loading
            case .shorter: continue
            case .removed: return
            case .heldBack:
                report.heldBack += 1
                return
            case .missing:
                // A copy of the reference may stand in another document, which does not get the file.
                if let owner = others.popLast() {
                    record.owner = owner
                    try await storing {
                        _ = try await cache.change(old.attachment.id) { $0.owner = owner }
                    }
                    place = record.place ?? place
                    continue
                }
                engine.noteOnItsWay(record.attachment.id)
                report.waiting += 1
                return
            case .empty:
                return try await fail(record, "the remote has only \(record.bytes) bytes of it")
            case .longer:
                return try await fail(record, "the remote returned more bytes than were asked for")
            }
        }
        guard try storing({ try cache.isSound(record) }) else {
            _ = try await storing { [record] in try await cache.evict(record) }
            return try await fail(record, "the remote's content is not the one that was attached")
        }
        let isLoaded = try await finish(record) {
            ($0.stage, $0.isWanted, $0.used) = (.here, false, .now)
        }
        if isLoaded { report.loaded += 1 }
    }

    /// Why no more pieces are loaded.
    private enum LoadEnd: Error {
        /// All of the file is stored.
        case ofFile
        /// A piece had fewer bytes than it should, so that the next ones begin elsewhere.
        case shorter
        case empty
        case longer
        /// The remote does not have the file.
        case missing
        /// The file was removed from the device, or others have loaded it.
        case removed
        /// The file may not be carried now.
        case heldBack
    }

    /// Loads pieces from where the device has the file.
    private func loadPieces(
        of record: inout AttachmentRecord, at place: AttachmentPlace
    ) async throws(Interrupted) -> LoadEnd {
        var pieces = AttachmentRanges(of: record.attachment, from: record.bytes)
        var end = LoadEnd.ofFile
        do throws(Interrupted) {
            try await ahead(atMost: AttachmentPieces.aheadMax) { () throws -> Range<Int64>? in
                guard let range = pieces.next() else { return nil }
                guard carries(place.attachment) else {
                    end = .heldBack
                    return nil
                }
                return range
            } request: { range, remote in
                try await remote.read(
                    place, from: range.lowerBound, count: AttachmentPieces.sizeMax)
            } take: { range, answer in
                record = try await store(answer, of: range, record)
                if record.bytes < range.upperBound { throw LoadEnd.shorter }
            }
        } catch {
            // What is under way behind it has no place.
            guard case .other(let cause) = error, let end = cause as? LoadEnd else { throw error }
            return end
        }
        return end
    }

    /// Stores a piece that the remote returned, behind those that are stored.
    ///
    /// - Throws: `LoadEnd` for one that cannot be stored.
    private func store(
        _ answer: [UInt8]?, of range: Range<Int64>, _ record: AttachmentRecord
    ) async throws -> AttachmentRecord {
        guard let bytes = answer else { throw LoadEnd.missing }
        guard !range.isEmpty else { return record }
        guard !bytes.isEmpty else { throw LoadEnd.empty }
        guard bytes.count <= range.count else { throw LoadEnd.longer }
        guard let stored = try await cache.append(bytes, to: record) else {
            throw LoadEnd.removed
        }
        engine.note(record.attachment.id, sent: nil)
        return stored
    }

    /// Returns whether a file may be carried now; counts one that may not.
    private mutating func mayCarry(_ attachment: Attachment) -> Bool {
        let isCarried = carries(attachment)
        if !isCarried { report.heldBack += 1 }
        return isCarried
    }

    /// Changes the record of a file that was sent or loaded, unless the file was removed or evicted
    /// meanwhile.
    ///
    /// - Returns: whether the record was changed.
    @discardableResult
    private func finish(
        _ record: AttachmentRecord,
        _ change: @escaping @Sendable (inout AttachmentRecord) -> Void
    ) async throws(Interrupted) -> Bool {
        let isChanged = try await storing {
            try await cache.change(record.attachment.id) { current in
                guard current.stage == record.stage, current.isContent(of: record.attachment),
                    current.bytes == current.attachment.length
                else { return }
                change(&current)
                current.problem = nil
            }
        }
        engine.noteSuccess(record.attachment.id)
        engine.note(record.attachment.id, sent: nil)
        return isChanged
    }

    /// Notes that a file failed.
    ///
    /// - Parameters:
    ///   - unknownSince: since when the remote does not take the file, at the start of its turn.
    ///   - isTriedAgain: whether the failure may pass by itself.
    private mutating func fail(
        _ record: AttachmentRecord, _ problem: String, unknownSince: BSONDatetime? = nil,
        isTriedAgain: Bool = false
    ) async throws(Interrupted) {
        if !isTriedAgain, record.stage == .toSend,
            try await isOver(record, unknownSince: unknownSince)
        {
            return
        }
        try await storing {
            _ = try await cache.change(record.attachment.id) {
                $0.problem = problem
                if !isTriedAgain { $0.isWanted = false }
            }
        }
        engine.note(record.attachment.id, sent: nil)
        if !isForApp { engine.note(record, failedAs: problem) }
        report.failed += 1
    }
}

/// The ranges of a file's bytes that one request carries each, in their order.
private struct AttachmentRanges {
    private let length: Int64
    private var offset: Int64
    private var isAtEnd = false

    init(of attachment: Attachment, from offset: Int64) {
        length = attachment.length
        self.offset = min(offset, length)
    }

    /// Returns the next range, also an empty one at the end of the file if there is no other.
    mutating func next() -> Range<Int64>? {
        guard !isAtEnd else { return nil }
        let range = offset..<min(offset + Int64(AttachmentPieces.sizeMax), length)
        offset = range.upperBound
        isAtEnd = offset == length
        return range
    }
}
