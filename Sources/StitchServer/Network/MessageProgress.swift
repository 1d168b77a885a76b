#if Server
    internal import Synchronization

    /// Follows how a connection's messages come in, so that one that only begins them is ended.
    ///
    /// Used on the connection's event loop only.
    final class MessageProgress {
        /// Beginnings of messages may have so many bytes over all connections.
        static let bytesMax = 512 * 1024 * 1024
        /// A message must grow by so many bytes between two looks.
        static let bytesPerCheck = 10 * 1024
        /// Beginnings up to this size are never refused.
        private static let smallBytes = 64 * 1024
        private static let total = Atomic<Int>(0)

        private var pending = 0
        private var pendingAtLastCheck = 0
        private var messages = 0
        private var messagesAtLastCheck = 0

        deinit { Self.total.subtract(pending, ordering: .relaxed) }

        /// Notes how many bytes of an unfinished message there are.
        ///
        /// - Returns: whether there is memory for more.
        func isWaiting(for bytes: Int) -> Bool {
            note(bytes)
            return bytes <= Self.smallBytes || Self.total.load(ordering: .relaxed) <= Self.bytesMax
        }

        /// Notes that a message is complete, and how many bytes are there behind it.
        func messageArrived(rest: Int) {
            messages += 1
            note(rest)
        }

        private func note(_ bytes: Int) {
            Self.total.add(bytes - pending, ordering: .relaxed)
            pending = bytes
        }

        /// Looks whether the client goes on; called from time to time.
        ///
        /// - Returns: false when it has not yet sent a message, or sends one too slowly.
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
