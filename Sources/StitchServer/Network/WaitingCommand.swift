#if Server
    internal import BSONStore
    internal import NIOCore

    /// One command that waits, with the timer and subscription that end the wait.
    ///
    /// Used on the connection's event loop only.
    final class WaitingCommand {
        /// The continuation; the argument is whether the deadline has passed.
        let again: @Sendable (Bool) -> MessageProcessor.NextAction
        /// The kind of its work.
        let rank: WorkRank
        /// The size of the request that the command keeps.
        let bytes: Int
        private let wait: CommandWait
        var timer: Scheduled<Void>?
        var unsubscribe: @Sendable () -> Void = {}

        init(
            _ wait: CommandWait, rank: WorkRank, bytes: Int,
            again: @escaping @Sendable (Bool) -> MessageProcessor.NextAction
        ) {
            self.wait = wait
            self.rank = rank
            self.bytes = bytes
            self.again = again
        }

        /// Cancels the wait.
        func end() {
            timer?.cancel()
            unsubscribe()
        }

        /// Cancels the wait and releases the command's resources.
        func abandon() {
            end()
            wait.abandon()
        }
    }
#endif
