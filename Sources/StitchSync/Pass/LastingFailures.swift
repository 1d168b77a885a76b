internal import BSONStore

/// The server's failures to answer a query, or to let a collection be read, that come pass after pass.
///
/// Servers have many codes for what they never allow, such as 8000 at Atlas, and end a query that is too
/// expensive each time anew. Such an error looks temporary. After some passes in a row it counts as a
/// refusal, so that it holds back no other query and no upload (rule R8).
final class LastingFailures: Sendable {
    /// What fails: a collection, or one of its queries.
    struct Subject: Hashable {
        let namespace: Namespace
        /// The filter of the query; `nil` for the whole collection.
        let filter: BSONDocument?

        init(_ namespace: Namespace) { (self.namespace, filter) = (namespace, nil) }

        /// Queries that are asked for together count as the first: after a refusal it is asked for again
        /// with fewer others.
        init(_ group: QueryGroup) {
            (namespace, filter) = (group.namespace, group.queries.first?.filter ?? group.filter)
        }
    }

    /// The number of failures in a row that count as a refusal.
    static let countMax = 5

    private let counts = Locked<[Subject: Int]>([:])

    /// Returns whether an error counts as a refusal: it is one, or it is the last of several.
    func isRefusal(_ error: RemoteError, of subject: Subject) -> Bool {
        if error.errorClass == .rejected { return true }
        guard error.isAnswer else { return false }
        return counts.withLock { counts in
            let count = counts[subject, default: 0] + 1
            counts[subject] = count
            return count >= Self.countMax
        }
    }

    /// Notes that the remote answered.
    func noteAnswer(to subject: Subject) {
        counts.withLock { counts in
            if !counts.isEmpty { counts[subject] = nil }
        }
    }
}

extension RemoteError {
    /// The codes of servers that ended a request for its cost: MaxTimeMSExpired, ExceededMemoryLimit.
    private static let costCodes: Set<Int> = [50, 146]

    /// Whether the server itself answered with the error, and the request may be the reason.
    fileprivate var isAnswer: Bool {
        errorClass == .unknown && code != 0
            || errorClass == .retryable && Self.costCodes.contains(code)
    }
}
