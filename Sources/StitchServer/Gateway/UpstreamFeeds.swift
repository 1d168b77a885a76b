internal import BSONStore

/// The feeds that a gateway follows, one for each scope that a client asks for.
final class UpstreamFeeds: Sendable {
    private struct State: Sendable {
        var feeds: [ChangeStreamScope: UpstreamFeed] = [:]
        var isClosed = false
    }

    /// The largest number of feeds; each occupies a thread and a connection.
    private static let countMax = 256
    /// How long an unused feed goes on, for clients that come back.
    private static let idleMax: Duration = .seconds(120)

    private let link: UpstreamLink
    private let state = Locked(State())

    init(_ link: UpstreamLink) { self.link = link }

    /// Returns the feed of a scope, which begins to follow the upstream if it is new.
    ///
    /// - Throws: 290 when too many are followed, 11600 when the gateway stops.
    func feed(_ scope: ChangeStreamScope) throws(CommandFailure) -> UpstreamFeed {
        try state.withLock { (state) throws(CommandFailure) in
            guard !state.isClosed else {
                throw CommandFailure(11600, "this gateway stops; continue at another")
            }
            if let known = state.feeds[scope] { return known }
            guard state.feeds.count < Self.countMax else {
                throw CommandFailure(
                    290,
                    "\(Self.countMax) collections are followed already, and no more may be; try "
                        + "later")
            }
            let feed = UpstreamFeed(scope, link)
            try feed.start()
            state.feeds[scope] = feed
            return feed
        }
    }

    /// Ends the feeds that no client has read for a while.
    func tidy() {
        let unused = state.withLock { state in
            let unused = state.feeds.filter { $0.value.isUnused(for: Self.idleMax) }
            for scope in unused.keys { state.feeds[scope] = nil }
            return Array(unused.values)
        }
        for feed in unused { feed.stop() }
    }

    /// The number of feeds, and of the streams that read them.
    var counts: (feeds: Int, streams: Int) {
        let feeds = state.withLock { Array($0.feeds.values) }
        return (feeds.count, feeds.reduce(0) { $0 + $1.readerCount })
    }

    /// Ends all feeds; their streams end with an error after which clients resume elsewhere.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { state.feeds = [:] }
            return Array(state.feeds.values)
        }
        for feed in all { feed.stop() }
    }
}
