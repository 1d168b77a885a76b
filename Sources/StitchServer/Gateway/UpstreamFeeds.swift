internal import BSONStore

/// The feeds that a gateway follows, one for each scope that a client asks for.
final class UpstreamFeeds: Sendable {
    /// What a feed counts for.
    private struct Share: Sendable {
        /// The user, or the address, that had the feed opened.
        let owner: [UInt8]
        /// Whether the upstream had nothing to follow by that name.
        let isMissing: Bool
    }

    private struct State: Sendable {
        var feeds: [ChangeStreamScope: UpstreamFeed] = [:]
        var shares: [ChangeStreamScope: Share] = [:]
        var isClosed = false

        func count(_ isMeant: (Share) -> Bool) -> Int { shares.values.count(where: isMeant) }
    }

    /// The largest number of feeds; each occupies a thread and a connection.
    static let countMax = 256
    /// The largest number of feeds that one user opened.
    static let ofOneMax = 64
    /// The largest numbers of feeds of what the upstream does not have, of which anybody can name any
    /// number: of one user, and in all.
    static let (missingOfOneMax, missingMax) = (16, 128)
    /// How long an unused feed goes on, for clients that come back.
    private static let idleMax: Duration = .seconds(120)

    private let link: UpstreamLink
    private let state = Locked(State())

    init(_ link: UpstreamLink) { self.link = link }

    /// Returns the feed of a scope, which begins to follow the upstream if it is new.
    ///
    /// - Parameters:
    ///   - owner: the user, or the address, whose share a new feed takes.
    ///   - exists: returns whether the upstream has the collection or database; called for a new feed.
    /// - Throws: 290 when too many are followed, 11600 when the gateway stops, and the errors of
    ///   `exists`.
    func feed(
        _ scope: ChangeStreamScope, of owner: [UInt8], exists: () throws -> Bool
    ) throws -> UpstreamFeed {
        let known = try state.withLock { (state) throws(CommandFailure) in
            try Self.known(scope, in: state)
        }
        if let known { return known }
        let share = Share(owner: owner, isMissing: try !exists())
        return try state.withLock { (state) throws(CommandFailure) in
            // Another command may have been faster.
            if let known = try Self.known(scope, in: state) { return known }
            try Self.checkRoom(for: share, state)
            let feed = UpstreamFeed(scope, link)
            try feed.start()
            state.feeds[scope] = feed
            state.shares[scope] = share
            return feed
        }
    }

    private static func known(
        _ scope: ChangeStreamScope, in state: State
    ) throws(CommandFailure) -> UpstreamFeed? {
        guard !state.isClosed else {
            throw CommandFailure(11600, "this gateway stops; continue at another")
        }
        return state.feeds[scope]
    }

    private static func checkRoom(for share: Share, _ state: State) throws(CommandFailure) {
        let bounds = [
            (state.feeds.count, countMax, "collections and databases are followed"),
            (
                state.count { $0.owner == share.owner }, ofOneMax,
                "collections and databases are followed for this user"
            ),
            (
                share.isMissing
                    ? state.count { $0.isMissing && $0.owner == share.owner } : 0, missingOfOneMax,
                "collections and databases that do not exist are followed for this user"
            ),
            (
                share.isMissing ? state.count(\.isMissing) : 0, missingMax,
                "collections and databases that do not exist are followed"
            ),
        ]
        for (count, countMax, what) in bounds where count >= countMax {
            throw CommandFailure(
                290, "\(countMax) \(what) already, and no more may be; end streams, or try later")
        }
    }

    /// Ends the feeds that no client has read for a while.
    func tidy() {
        let unused = state.withLock { state in
            let unused = state.feeds.filter { $0.value.isUnused(for: Self.idleMax) }
            for scope in unused.keys {
                state.feeds[scope] = nil
                state.shares[scope] = nil
            }
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
            defer { (state.feeds, state.shares) = ([:], [:]) }
            return Array(state.feeds.values)
        }
        for feed in all { feed.stop() }
    }
}
