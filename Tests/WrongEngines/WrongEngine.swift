internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The engine that `Scripts/simulate-wrong` builds: each patch of this folder leaves one rule out of
/// it while the environment names the patch.
enum WrongEngine {
    /// The name of the active patch; `nil` for the right engine.
    private static let name = getenv("WRONG_ENGINE").map { String(cString: $0) }

    /// Returns whether the patch with this name is active.
    static func `is`(_ name: String) -> Bool { self.name == name }
}

extension SyncEngine {
    private typealias LateWrite = @Sendable () async throws -> Void

    /// The error that rolls a trial write back.
    private struct Undo: Error {}

    /// The last write of each engine, in memory only.
    private static let late = Locked<[ObjectIdentifier: LateWrite]>([:])

    /// Reports a write as done but stores it with the next one, which is wrong.
    func writeLater<R: Sendable>(
        _ namespace: Namespace,
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        let key = ObjectIdentifier(self)
        try await Self.late.withLock { $0.removeValue(forKey: key) }?()
        let result = Locked<R?>(nil)
        do {
            _ = try await write(namespace) { sync in
                let value = try body(sync)
                result.withLock { $0 = value }
                throw Undo()
            }
        } catch is Undo {
            Self.late.withLock { late in
                late[key] = { [weak self] in _ = try await self?.write(namespace, body) }
            }
        }
        guard let value = result.withLock({ $0 }) else { throw Undo() }
        return value
    }
}
