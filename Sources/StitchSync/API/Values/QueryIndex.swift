internal import BSONStore

/// The distinct queries on one collection, by the values that they ask for.
///
/// Most apps with many subscriptions ask for one document, owner or room each. The test of a
/// document then costs one lookup for each field, however many queries there are.
struct QueryIndex: Sendable {
    /// The queries, in the order of their subscriptions.
    let queries: [SubscriptionQuery]
    /// The places of queries that ask for values of a field, by the values' keys.
    private var byValue: [Name: [[UInt8]: [Int]]] = [:]
    /// The places of the other queries.
    private var others: [Int] = []

    init(_ queries: [SubscriptionQuery]) {
        self.queries = queries
        for (place, query) in queries.enumerated() {
            guard let wanted = query.wantedValues else {
                others.append(place)
                continue
            }
            for key in Set(wanted.values.map(BSONKey.encode)) {
                byValue[wanted.field, default: [:]][key, default: []].append(place)
            }
        }
    }

    /// Returns whether a query matches a document.
    func matches(_ document: BSONDocument) -> Bool {
        for (field, places) in byValue {
            guard let held = document[field.text] else { continue }
            let found: [Int]
            if let keys = WantedValues.keys(of: held) {
                found = keys.flatMap { places[$0] ?? [] }
            } else {
                found = places.values.flatMap(\.self)
            }
            if found.contains(where: { queries[$0].matches(document) }) { return true }
        }
        return others.contains { queries[$0].matches(document) }
    }
}

/// The queries of a subscription set by collection, which are sorted once for each set.
final class SetQueries: Sendable {
    private let queries: [SubscriptionQuery]
    private let made = Locked<[Namespace: QueryIndex]?>(nil)

    /// Makes the queries of a set; equal ones count once.
    init(_ queries: [SubscriptionQuery]) { self.queries = queries }

    /// Returns the queries on a collection; `nil` where there is none.
    func index(of namespace: Namespace) -> QueryIndex? { indexes[namespace] }

    /// The distinct queries, which have to be asked for no more.
    var all: Set<SubscriptionQuery> { Set(queries) }

    /// Whether there is a query on a collection.
    func asks(of namespace: Namespace) -> Bool { indexes[namespace] != nil }

    private var indexes: [Namespace: QueryIndex] {
        made.withLock { made in
            if let made { return made }
            var seen: Set<SubscriptionQuery> = []
            let distinct = queries.filter { seen.insert($0).inserted }
            let indexes = Dictionary(grouping: distinct, by: \.namespace).mapValues(QueryIndex.init)
            made = indexes
            return indexes
        }
    }
}
