#if Server
    internal import BSONStore
    internal import Synchronization

    /// The progress of a connection's incoming messages, to detect clients that only begin them.
    ///
    /// Used on the connection's event loop only.
    final class MessageProgress {
        /// The limit for incomplete messages of all connections, in bytes.
        static let bytesMax = 512 * 1024 * 1024
        /// The number of bytes by which a message must grow between two checks.
        static let bytesPerCheck = 10 * 1024
        /// Incomplete messages up to this size, in bytes, are always accepted.
        private static let smallBytes = 64 * 1024
        private static let total = Atomic<Int>(0)

        private var pending = 0
        private var pendingAtLastCheck = 0
        private var messages = 0
        private var messagesAtLastCheck = 0

        deinit { Self.total.subtract(pending, ordering: .relaxed) }

        /// Records the size of an incomplete message.
        ///
        /// - Returns: whether there is memory for more.
        func isWaiting(for bytes: Int) -> Bool {
            note(bytes)
            return bytes <= Self.smallBytes || Self.total.load(ordering: .relaxed) <= Self.bytesMax
        }

        /// Records a complete message, and how many bytes follow it.
        func messageArrived(rest: Int) {
            messages += 1
            note(rest)
        }

        private func note(_ bytes: Int) {
            Self.total.add(bytes - pending, ordering: .relaxed)
            pending = bytes
        }

        /// Notes that the server reads nothing at present, so that the client cannot make progress.
        func isHeldUp() { pendingAtLastCheck = 0 }

        /// Checks that the client makes progress; called at intervals.
        ///
        /// - Returns: false if the client has not sent a message yet, or sends one too slowly.
        func isAlive() -> Bool {
            defer { (pendingAtLastCheck, messagesAtLastCheck) = (pending, messages) }
            guard messages > 0 else { return false }
            guard pending > 0, messages == messagesAtLastCheck, pendingAtLastCheck > 0 else {
                return true
            }
            return pending - pendingAtLastCheck >= Self.bytesPerCheck
        }
    }
#endif
