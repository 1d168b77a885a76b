internal import BSONStore

/// Queries of a set, consecutive in ``order(_:)``, that the remote is asked for together.
///
/// They are on one collection and each ask for values of the same field, so that one request asks
/// for all their values. An app with a subscription for each document then needs a request for a
/// thousand of them.
struct QueryGroup: Sendable {
    let queries: ArraySlice<SubscriptionQuery>

    /// The largest number of queries in a group.
    static let countMax = 1_000
    /// The largest number of values that a group asks for.
    private static let valuesMax = 1_000
    /// The largest number of bytes of the filters of a group.
    private static let bytesMax = 64 * 1_024

    /// Makes the group that begins with a query.
    ///
    /// - Parameter count: the largest number of queries, which is smaller after a refusal.
    init(in queries: [SubscriptionQuery], at start: Int, atMost count: Int = countMax) {
        var end = start + 1
        if let first = queries[start].wantedValues, first.isWholeQuery {
            var (valueCount, byteCount) = (first.values.count, queries[start].filter.byteCount)
            while end < min(queries.count, start + count) {
                let next = queries[end]
                guard next.namespace == queries[start].namespace, let wanted = next.wantedValues,
                    wanted.isWholeQuery, wanted.field == first.field
                else { break }
                valueCount += wanted.values.count
                byteCount += next.filter.byteCount
                guard valueCount <= Self.valuesMax, byteCount <= Self.bytesMax else { break }
                end += 1
            }
        }
        self.queries = queries[start..<end]
    }

    var namespace: Namespace { queries[queries.startIndex].namespace }

    /// The filter of the documents that one of the queries matches.
    var filter: BSONDocument {
        let first = queries[queries.startIndex]
        guard queries.count > 1, let field = first.wantedValues?.field else { return first.filter }
        let values = queries.flatMap { $0.wantedValues?.values ?? [] }
        return [field.text: ["$in": .array(BSONArray(values))]]
    }

    /// Returns the queries in the order in which they are asked for: those that can go together follow
    /// the first of them, in their order.
    static func order(_ queries: [SubscriptionQuery]) -> [SubscriptionQuery] {
        struct Place: Hashable {
            let namespace: Namespace
            let field: Name
        }
        var places: [Place: Int] = [:]
        var parts: [[SubscriptionQuery]] = []
        for query in queries {
            guard let wanted = query.wantedValues, wanted.isWholeQuery else {
                parts.append([query])
                continue
            }
            let place = Place(namespace: query.namespace, field: wanted.field)
            if let known = places[place] {
                parts[known].append(query)
            } else {
                places[place] = parts.count
                parts.append([query])
            }
        }
        return parts.flatMap { $0 }
    }

    /// Returns the groups of queries from one on.
    static func all(in queries: [SubscriptionQuery], from start: Int = 0) -> [QueryGroup] {
        var groups: [QueryGroup] = []
        var next = start
        while next < queries.count {
            let group = QueryGroup(in: queries, at: next)
            groups.append(group)
            next = group.queries.endIndex
        }
        return groups
    }
}
