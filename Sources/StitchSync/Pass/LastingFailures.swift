internal import BSONStore

/// The server's failures to answer a query, or to let a collection be read, that come pass after pass.
///
/// Servers have many codes for what they never allow, such as 8000 at Atlas, and end a query that is too
/// expensive each time anew. Such an error looks temporary. After some passes in a row, over some time, it
/// counts as a refusal, so that it holds back no other query and no upload (rule R8).
final class LastingFailures: Sendable {
    /// What fails: a collection, or one of its queries.
    struct Subject: Hashable {
        let namespace: Namespace
        /// The filter of the query; `nil` for the whole collection.
        var filter: BSONDocument?
    }

    /// The number of failures in a row that count as a refusal.
    static let countMax = 5

    private struct Failures {
        var count = 0
        let start = ContinuousClock.now
    }

    private let failures = Locked<[Subject: Failures]>([:])
    private let refusals = Locked<[Subject: Failures]>([:])
    private let newcomers = Locked<[Namespace: Set<SubscriptionQuery>]>([:])
    private let asked = Locked<[Namespace: ContinuousClock.Instant]>([:])
    private let collisions = Locked<[Namespace: [[UInt8]: Int]]>([:])
    /// The shortest time between the first and the last of them: a disturbance is shorter.
    private let span: Duration

    init(span: Duration) { self.span = span }

    /// Returns whether an error counts as a refusal of the first subject: it is one, or it is the last of
    /// several.
    ///
    /// - Parameter subjects: the queries that were asked for together: any of them may be the reason.
    func isRefusal(_ error: RemoteError, of subjects: [Subject]) -> Bool {
        if error.errorClass == .rejected { return true }
        guard error.isAnswer, let first = subjects.first else { return false }
        return failures.withLock { failures in
            for subject in subjects { failures[subject, default: Failures()].count += 1 }
            guard let known = failures[first], known.count >= Self.countMax,
                ContinuousClock.now - known.start >= span
            else { return false }
            return true
        }
    }

    /// Returns whether a collection has been refused in several passes in a row, over some time; called at
    /// each refusal.
    func isLasting(_ subject: Subject) -> Bool {
        refusals.withLock { refusals in
            refusals[subject, default: Failures()].count += 1
            guard let known = refusals[subject] else { return false }
            return known.count >= Self.countMax && ContinuousClock.now - known.start >= span
        }
    }

    /// Returns whether a query of a collection that was refused may be asked for again: the first time,
    /// and when the span of a disturbance is over.
    func mayAskAgain(_ namespace: Namespace) -> Bool {
        let now = ContinuousClock.now
        return asked.withLock { asked in
            if let last = asked[namespace], now - last < span { return false }
            asked[namespace] = now
            return true
        }
    }

    /// Returns the queries that were refused when new documents were looked for; `nil` if that is not known
    /// since the start.
    func refusedNewcomers(in namespace: Namespace) -> Set<SubscriptionQuery>? {
        newcomers.withLock { $0[namespace] }
    }

    func noteRefusedNewcomers(_ queries: [SubscriptionQuery], in namespace: Namespace) {
        newcomers.withLock { $0[namespace] = queries.isEmpty ? nil : Set(queries) }
    }

    /// The number of refusals in a row of one document's insert, for an `_id` that the fetches in between
    /// do not find, which count as a lasting collision.
    static let collisionsMax = 3

    /// Notes inserts that were refused for their `_id`, although the fetch after that found no document.
    ///
    /// - Parameter ids: the ids of all inserts that were refused for their `_id`; those that are not
    ///   among the first are forgotten.
    func noteCollisions(_ unfound: [BSONValue], of ids: [BSONValue], in namespace: Namespace) {
        collisions.withLock { collisions in
            let known = collisions[namespace] ?? [:]
            var counts = known
            for id in ids { counts[BSONKey.encode(id)] = nil }
            for key in unfound.map({ BSONKey.encode($0) }) { counts[key] = (known[key] ?? 0) + 1 }
            collisions[namespace] = counts.isEmpty ? nil : counts
        }
    }

    /// Whether collisions of a collection's inserts are noted.
    func hasCollisions(in namespace: Namespace) -> Bool {
        collisions.withLock { $0[namespace] != nil }
    }

    /// Returns whether one more refusal of an id's insert makes a lasting collision: a document that came
    /// and went meanwhile does not.
    func isCollision(_ id: BSONValue, in namespace: Namespace) -> Bool {
        collisions.withLock { collisions in
            guard let count = collisions[namespace]?[BSONKey.encode(id)] else { return false }
            return count + 1 >= Self.collisionsMax
        }
    }

    /// Forgets the collision of an id, whose insert has another answer or is given up.
    func forgetCollision(_ id: BSONValue, in namespace: Namespace) {
        collisions.withLock { collisions in
            collisions[namespace]?[BSONKey.encode(id)] = nil
            if collisions[namespace]?.isEmpty ?? false { collisions[namespace] = nil }
        }
    }

    /// Forgets failures: the remote answered, or a refusal is stored, after which the query has its
    /// chance again when it is asked for anew.
    func forget(_ subjects: [Subject]) {
        failures.withLock { failures in
            guard !failures.isEmpty else { return }
            for subject in subjects { failures[subject] = nil }
        }
        refusals.withLock { refusals in
            guard !refusals.isEmpty else { return }
            for subject in subjects { refusals[subject] = nil }
        }
    }
}

extension LastingFailures.Subject {
    /// The queries of a group.
    static func all(of group: QueryGroup) -> [Self] {
        group.queries.map { Self(namespace: group.namespace, filter: $0.filter) }
    }
}

extension RemoteError {
    /// The codes of servers that ended a request for its cost: MaxTimeMSExpired, ExceededMemoryLimit.
    private static let costCodes: Set<Int> = [50, 146]

    /// Whether the server itself answered with the error, and the request may be the reason.
    var isAnswer: Bool {
        errorClass == .unknown && code != 0
            || errorClass == .retryable && Self.costCodes.contains(code)
    }
}
