#if Remote
    internal import BSONStore
    internal import NIOCore

    extension TimeAmount {
        /// Returns the amount of a duration, at least a millisecond and at most a year.
        static func of(_ duration: Duration) -> TimeAmount {
            .milliseconds(min(max(1, duration.milliseconds), 366 * 86_400_000))
        }
    }
#endif
