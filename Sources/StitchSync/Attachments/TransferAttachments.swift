internal import BSONStore

/// One round of transfers: files that are due are sent and loaded, one after the other.
struct TransferAttachments {
    let engine: AttachmentTransfers
    let cache: AttachmentCache
    let remote: any RemoteAttachments
    /// Returns whether a file may be sent or loaded now.
    let carries: @Sendable (Attachment) -> Bool
    private var report = AttachmentReport()

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
    /// - Throws: `StoreError` and `SyncError` when a store fails; `CancellationError`. An error of the
    ///   remote ends the round and is in the report.
    mutating func run(only id: BSONObjectID? = nil) async throws -> AttachmentReport {
        do throws(Interrupted) {
            if let id {
                try await loadInTurn(id)
            } else {
                for record in try storing({ try cache.records(.toSend) }) {
                    try await send(record)
                }
                for record in try storing({ try cache.records(.loading) }) where record.isWanted {
                    try await loadInTurn(record.attachment.id)
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

    /// Sends a file, from where the remote has it.
    private mutating func send(_ record: AttachmentRecord) async throws(Interrupted) {
        guard let place = record.place, try storing({ try engine.isSent(place) }) else {
            report.waiting += 1
            return
        }
        guard mayCarry(record.attachment) else { return }
        var state = try await asking { remote throws(RemoteError) in
            try await remote.state(of: place)
        }
        var (attempts, last) = (0, Int64(-1))
        while true {
            switch state {
            case .complete:
                try await finish(record) { $0.stage = .here }
                report.sent += 1
                return
            case .unknown:
                report.waiting += 1
                return
            case .partial(let offset):
                engine.note(record.attachment.id, sent: offset)
                if offset <= last { attempts += 1 }
                last = offset
                guard attempts < Self.attemptsMax else {
                    return try await fail(record, "the remote found another content than was sent")
                }
                guard mayCarry(record.attachment) else { return }
                let bytes = try storing {
                    try cache.read(record, from: offset, count: AttachmentPieces.sizeMax)
                }
                state = try await asking { remote throws(RemoteError) in
                    try await remote.put(bytes, at: offset, of: place)
                }
            }
        }
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
        guard let place = old.place else { return }
        var record = old
        while record.bytes < record.attachment.length || record.attachment.length == 0 {
            guard mayCarry(record.attachment) else { return }
            let offset = record.bytes
            let answer = try await asking { remote throws(RemoteError) in
                try await remote.read(place, from: offset, count: AttachmentPieces.sizeMax)
            }
            guard let bytes = answer else {
                engine.noteOnItsWay(record.attachment.id)
                report.waiting += 1
                return
            }
            if record.attachment.length == 0 { break }
            guard !bytes.isEmpty else {
                return try await fail(record, "the remote has only \(record.bytes) bytes of it")
            }
            let stored = try await storing { [record] in try await cache.append(bytes, to: record) }
            // The file was removed meanwhile.
            guard let stored else { return }
            record = stored
            engine.note(record.attachment.id, sent: nil)
        }
        guard try storing({ try cache.isSound(record) }) else {
            try await storing { [record] in try await cache.evict(record) }
            return try await fail(record, "the remote's content is not the one that was attached")
        }
        try await finish(record) {
            ($0.stage, $0.isWanted, $0.used) = (.here, false, .now)
        }
        report.loaded += 1
    }

    /// Returns whether a file may be carried now; counts one that may not.
    private mutating func mayCarry(_ attachment: Attachment) -> Bool {
        let isCarried = carries(attachment)
        if !isCarried { report.heldBack += 1 }
        return isCarried
    }

    private func finish(
        _ record: AttachmentRecord,
        _ change: @escaping @Sendable (inout AttachmentRecord) -> Void
    ) async throws(Interrupted) {
        try await storing {
            try await cache.change(record.attachment.id) {
                change(&$0)
                $0.problem = nil
            }
        }
        engine.note(record.attachment.id, sent: nil)
    }

    private mutating func fail(
        _ record: AttachmentRecord, _ problem: String
    ) async throws(Interrupted) {
        try await storing {
            try await cache.change(record.attachment.id) {
                ($0.problem, $0.isWanted) = (problem, false)
            }
        }
        engine.note(record.attachment.id, sent: nil)
        report.failed += 1
    }
}
