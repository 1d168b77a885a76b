#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import BSONStore

/// The content of one file: where it is, and the ways to it.
///
/// ```swift
/// if let photo = todo.photo {
///     let file = todos.file(photo, of: .objectID(todo.id))
///     let bytes = try await file.bytes()
/// }
/// ```
public struct AttachmentFile: Sendable {
    let engine: SyncEngine
    /// The document that refers to the file, and the reference.
    public let place: AttachmentPlace

    private var files: AttachmentTransfers { engine.files }
    private var attachment: Attachment { place.attachment }

    /// Returns where the content is now.
    ///
    /// - Throws: `StoreError` when the store of the contents fails.
    public func state() throws -> AttachmentState {
        try files.openIfStored()
        return try files.state(of: attachment)
    }

    /// The state now and after each change, for `for try await`; it ends when its task is cancelled.
    public var updates: AttachmentUpdates { AttachmentUpdates(file: self) }

    /// Loads the content, unless it is on the device.
    ///
    /// - Throws: `SyncError` of code `.fileMissing` when the remote does not have it or does not show it
    ///   to the user, `.remoteUnavailable` when the remote cannot be reached, `.offline`; `StoreError`.
    public func download() async throws {
        // No limit evicts what is being loaded.
        try await files.reading(attachment.id) { try await load() }
    }

    private func load() async throws {
        let cache = try files.cache()
        if let record = try stored(in: cache), record.isWhole { return }
        guard engine.isOnline else { throw SyncError(.offline, "the engine is offline") }
        let owner = AttachmentRecord.Owner(
            namespace: place.namespace, documentID: place.documentID)
        try await files.want(attachment, owner, cache)
        let report = try await files.load(attachment)
        if let record = try stored(in: cache), record.isWhole { return }
        if let error = report.error {
            throw SyncError(
                .remoteUnavailable, "the file cannot be loaded: \(error.message)",
                namespace: place.namespace, documentID: place.documentID, underlying: error)
        }
        let problem = try stored(in: cache)?.problem
        throw SyncError(
            .fileMissing,
            problem ?? "the remote does not have the file yet, or the user may not read it",
            namespace: place.namespace, documentID: place.documentID)
    }

    /// Returns the whole content; loads it first where it is not on the device.
    ///
    /// The content is in memory at once; ``read(from:count:)`` and ``copy(to:)`` need a piece only.
    ///
    /// - Throws: as ``download()`` does.
    public func bytes() async throws -> [UInt8] {
        try await read(from: 0, count: Int(clamping: attachment.length))
    }

    /// Returns bytes of the content, fewer at its end; loads it first where it is not on the device.
    ///
    /// - Throws: as ``download()`` does.
    public func read(from offset: Int64, count: Int) async throws -> [UInt8] {
        try await files.reading(attachment.id) {
            let cache = try files.cache()
            let bytes = try await reloading(cache) {
                try cache.read($0, from: offset, count: count)
            }
            if offset == 0 {
                try await cache.change(attachment.id) { $0.used = .now }
            }
            return bytes
        }
    }

    /// Runs a body over the content; loads it first where it is not on the device, and again if it is
    /// damaged here, or was evicted meanwhile, and the remote has it.
    private func reloading<R>(
        _ cache: AttachmentCache, _ body: (AttachmentRecord) async throws -> R
    ) async throws -> R {
        var damage: (any Error)?
        for _ in 1...2 {
            try await download()
            guard let record = try stored(in: cache) else { throw gone() }
            guard record.isWhole else { continue }
            do {
                return try await body(record)
            } catch let error as StoreError where AttachmentCache.isDamage(error) {
                damage = error
                switch try stored(in: cache)?.stage {
                case nil: throw gone()
                case .arriving, .staged, .toSend: throw error
                case .here: try await cache.evict(record)
                case .loading, .removing: continue
                }
            }
        }
        throw damage ?? gone()
    }

    /// Copies the content to a file of the app's, for example to show a film; loads it first where it is
    /// not on the device.
    ///
    /// The file appears when it is whole, and replaces an earlier one. It is a copy: the app removes it.
    ///
    /// - Throws: as ``download()`` does; `SyncError` of code `.fileUnwritable`.
    public func copy(to file: URL) async throws {
        try await files.reading(attachment.id) {
            let cache = try files.cache()
            try await reloading(cache) { record in
                var offset: Int64 = 0
                try await LocalFile.write(to: file.path) {
                    let bytes = try cache.read(
                        record, from: offset, count: AttachmentPieces.sizeMax)
                    offset += Int64(bytes.count)
                    return bytes.isEmpty ? nil : bytes
                }
            }
            try await cache.change(attachment.id) { $0.used = .now }
        }
    }

    /// Removes the content from the device if the remote has it; the reference stays.
    ///
    /// - Returns: whether it was removed: the device had it, the remote has it, and no call reads it now.
    @discardableResult
    public func evict() async throws -> Bool {
        let cache = try files.cache()
        guard let record = try stored(in: cache), record.stage == .here,
            !files.isBeingRead(attachment.id), try await cache.evict(record)
        else { return false }
        files.changes.notify()
        return true
    }

    /// Returns what the device knows about the file; `nil` also if it has another content with the same id.
    private func stored(in cache: AttachmentCache) throws -> AttachmentRecord? {
        try cache.record(attachment.id).flatMap { $0.isContent(of: attachment) ? $0 : nil }
    }

    private func gone() -> SyncError {
        SyncError(
            .fileMissing, "no document refers to the file any more",
            namespace: place.namespace, documentID: place.documentID)
    }
}

/// The states of a file: the present one, and each that differs from the one before.
///
/// ```swift
/// for try await state in todos.file(photo, of: id).updates {
///     if case .loading(let bytes) = state { show(bytes, of: photo.length) }
/// }
/// ```
public struct AttachmentUpdates: AsyncSequence, Sendable {
    let file: AttachmentFile

    /// Returns an iterator that begins with the present state.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file) }

    /// An iterator over the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let file: AttachmentFile
        private var last: AttachmentState?

        init(file: AttachmentFile) { self.file = file }

        /// Waits for a state that differs from the last; returns `nil` once the task is cancelled.
        ///
        /// - Throws: `StoreError` when the store of the contents fails.
        public mutating func next() async throws -> AttachmentState? {
            let changes = file.engine.files.changes
            while !Task.isCancelled {
                let seen = changes.count
                let state = try file.state()
                if state != last {
                    last = state
                    return state
                }
                await changes.wait(after: seen)
            }
            return nil
        }
    }
}
