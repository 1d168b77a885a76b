public import BSONStore

/// Asks for the documents of a collection that pass a filter.
///
/// A filter may hold what the local engine, a `find` of MongoDB and a `$match` answer alike, of the
/// document alone. Queries are the same when they differ in the order of their conditions only.
public struct SubscriptionQuery: Sendable {
    /// How large a filter may be, in bytes of BSON.
    public static let filterBytesMax = 256 * 1_024
    /// Operators that look beyond the document, or that give an order.
    private static let refused: Set<String> = [
        "$expr", "$where", "$text", "$near", "$nearSphere", "$comment",
    ]

    /// The collection.
    public let namespace: Namespace
    /// The filter as it was given.
    public let filter: BSONDocument
    /// The filter's conditions in the order of their names; equal for equal queries.
    let canonicalFilter: BSONDocument
    private let compiled: Filter

    /// Takes a filter; an empty one asks for all documents.
    ///
    /// - Throws: `StoreError` with `badValue` for what a subscription cannot ask, for a filter of more
    ///   than `filterBytesMax`, and what `BSONStore/Filter` says of it.
    public init(_ namespace: Namespace, _ filter: BSONDocument = [:]) throws(StoreError) {
        guard filter.byteCount <= Self.filterBytesMax else {
            throw StoreError(
                .badValue, "A subscription's filter has at most \(Self.filterBytesMax) bytes")
        }
        compiled = try Filter(filter)
        canonicalFilter = try Self.canonical(filter, depth: 0)
        self.namespace = namespace
        self.filter = filter
    }

    /// Whether a document of the collection is asked for.
    public func matches(_ document: BSONDocument) -> Bool { compiled.matches(document) }

    /// Sorts conditions by their names; values keep the order of their fields, which counts.
    private static func canonical(
        _ conditions: BSONDocument, depth: Int
    ) throws(StoreError) -> BSONDocument {
        guard depth <= 100 else {
            throw StoreError(.badValue, "A subscription's filter is nested too deeply")
        }
        var entries: [(key: String, value: BSONValue)] = []
        for (key, value) in conditions {
            guard !refused.contains(key) else {
                throw StoreError(.badValue, "A subscription cannot ask by \(key)")
            }
            entries.append((key, try canonical(value, of: key, depth: depth)))
        }
        // Equal names keep their order.
        let order = entries.indices.sorted {
            (Name(entries[$0].key), $0) < (Name(entries[$1].key), $1)
        }
        return BSONDocument(order.map { entries[$0] })
    }

    private static func canonical(
        _ value: BSONValue, of key: String, depth: Int
    ) throws(StoreError) -> BSONValue {
        switch value {
        case .array(let parts) where ["$and", "$or", "$nor"].contains(key):
            var conditions = BSONArray()
            for part in parts {
                guard let part = part.documentValue else { continue }
                conditions.append(.document(try canonical(part, depth: depth + 1)))
            }
            return .array(conditions)
        case .document(let operators)
        where !key.hasPrefix("$") || ["$not", "$elemMatch"].contains(key):
            let isLiteral = !key.hasPrefix("$") && operators.keys.first?.hasPrefix("$") != true
            return isLiteral ? value : .document(try canonical(operators, depth: depth + 1))
        default: return value
        }
    }
}

extension SubscriptionQuery: Hashable {
    /// The same collection, and the same conditions in whatever order.
    public static func == (left: Self, right: Self) -> Bool {
        left.namespace == right.namespace && left.canonicalFilter == right.canonicalFilter
    }

    /// Feeds what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(namespace)
        hasher.combine(canonicalFilter)
    }
}
