#if Remote
    internal import BSONStore
    internal import NIOCore

    extension TimeAmount {
        /// Returns the amount of a duration, at least a millisecond and at most a year.
        static func of(_ duration: Duration) -> TimeAmount {
            .milliseconds(min(max(1, duration.milliseconds), 366 * 86_400_000))
        }
    }

    extension String {
        /// A description of an error on one line of at most 300 characters.
        init(shortly error: any Error) {
            let text = "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
            self = String(text.prefix(300))
        }
    }
#endif
