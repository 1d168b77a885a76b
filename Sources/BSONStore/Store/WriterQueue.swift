internal import Dispatch

/// Runs transactions of async callers on a thread of their own, one after the other.
///
/// A commit waits for the disk; on the cooperative pool that would stop other tasks.
final class WriterQueue: Sendable {
    private let queue = DispatchQueue(label: "org.stitchsync.store.writer", qos: .userInitiated)

    func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try work() })
            }
        }
    }
}

extension DocumentStore {
    /// Changes documents in one transaction on the store's writer thread.
    ///
    /// The caller's thread is free while the disk is waited for. Cancelling the task is noticed
    /// before the transaction begins, never in it.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try Task.checkCancellation()
        return try await writerQueue.run { try self.write(body) }
    }
}
