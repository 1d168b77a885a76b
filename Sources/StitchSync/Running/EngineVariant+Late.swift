#if ENGINE_VARIANTS
    internal import BSONStore

    extension SyncEngine {
        private typealias Late = @Sendable () async throws -> Void

        /// The error that rolls a trial write back.
        private struct Undo: Error {}

        /// The last write of each engine, in memory only.
        private static let late = Locked<[ObjectIdentifier: Late]>([:])

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
#endif
