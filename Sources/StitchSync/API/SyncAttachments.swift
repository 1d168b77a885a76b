internal import BSONStore

/// The files beside an engine's documents.
///
/// ```swift
/// engine.attachments.limitCache(to: 200_000_000)
/// let report = try await engine.attachments.transfer()
/// print("\(report.sent) files sent, \(report.loaded) loaded")
/// ```
public struct SyncAttachments: Sendable {
    let engine: SyncEngine

    /// Sends and loads the files that are due now; ``SyncEngine/run()`` does it by itself.
    ///
    /// A file is due for sending once its document is at the remote, so sync first. The call ends when
    /// all files that are due have been tried; a connection that is lost ends it early, and the next
    /// call goes on with the piece after the last one.
    ///
    /// - Throws: `SyncError` of code `.offline` after `setOnline(false)`; `StoreError` when a store
    ///   fails; `CancellationError`.
    @discardableResult
    public func transfer() async throws -> AttachmentReport {
        try engine.checkIsOpen()
        guard engine.isOnline else { throw SyncError(.offline, "the engine is offline") }
        try engine.files.openIfStored()
        return try await engine.files.runRound()
    }

    /// Sets the most bytes that the device keeps of files which the remote has, too.
    ///
    /// Beyond it, those go first that were not used for the longest time; they are loaded again when
    /// they are asked for. Files that are not sent yet do not count and stay.
    ///
    /// - Parameter bytes: `nil`, the default, for no limit.
    public func limitCache(to bytes: Int64?) { engine.files.limitCache(to: bytes) }

    /// The number of files whose content is on the device, and of their bytes.
    ///
    /// - Throws: `StoreError` when the store of the contents fails.
    public func usage() throws -> (files: Int, bytes: Int64) {
        try engine.files.openIfStored()
        guard engine.files.isUsed else { return (0, 0) }
        let records = try engine.files.cache().all().filter { $0.bytes > 0 }
        return (records.count, records.reduce(0) { $0 + $1.bytes })
    }

    /// Whether files wait to be sent.
    ///
    /// - Throws: `StoreError` when the store of the contents fails.
    public func hasUnsent() throws -> Bool {
        try engine.files.openIfStored()
        guard engine.files.isUsed else { return false }
        let cache = try engine.files.cache()
        return try !cache.records(.toSend).isEmpty || !cache.records(.staged).isEmpty
    }
}

extension SyncEngine {
    /// The files beside the documents.
    public var attachments: SyncAttachments { SyncAttachments(engine: self) }
}
