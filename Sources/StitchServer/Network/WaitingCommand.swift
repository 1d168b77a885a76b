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
        /// The place of the request among those of all connections.
        let place: RequestPlace
        private let wait: CommandWait
        var timer: Scheduled<Void>?
        var unsubscribe: @Sendable () -> Void = {}

        init(
            _ wait: CommandWait, rank: WorkRank, bytes: Int, at place: RequestPlace,
            again: @escaping @Sendable (Bool) -> MessageProcessor.NextAction
        ) {
            self.wait = wait
            self.rank = rank
            self.bytes = bytes
            self.place = place
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
            place.leave()
            wait.abandon()
        }
    }
#endif
