public import BSONStore

/// A query for the documents of one collection that match a filter.
///
/// The filter may use operators that the local engine, MongoDB's `find` and `$match` evaluate alike
/// from the document alone. Queries that differ only in the order of their conditions are equal.
///
/// ```swift
/// let open = try SubscriptionQuery(Namespace("app", "todos"), ["done": false])
/// print(open.matches(["_id": 1, "done": false]))  // true
/// ```
public struct SubscriptionQuery: Sendable {
    /// The maximum size of a filter, in bytes of BSON.
    public static let filterBytesMax = 256 * 1_024
    /// Operators that read beyond the document or define an order.
    private static let refused: Set<String> = [
        "$expr", "$where", "$text", "$near", "$nearSphere", "$comment",
    ]

    /// The collection of the documents.
    public let namespace: Namespace
    /// The filter as the app passed it.
    public let filter: BSONDocument
    /// The filter with its conditions sorted by name; equal queries have equal ones.
    let canonicalFilter: BSONDocument
    /// The values of a field that matching documents hold, where the filter names some.
    let wantedValues: WantedValues?
    private let compiled: Filter

    /// Makes a query; an empty filter matches all documents.
    ///
    /// - Throws: `StoreError` with `badValue` for an operator that a subscription cannot have and
    ///   for a filter larger than `filterBytesMax`, and the errors of `BSONStore/Filter`.
    public init(_ namespace: Namespace, _ filter: BSONDocument = [:]) throws(StoreError) {
        guard filter.byteCount <= Self.filterBytesMax else {
            throw StoreError(
                .badValue, "A subscription's filter has at most \(Self.filterBytesMax) bytes")
        }
        compiled = try Filter(filter)
        canonicalFilter = try Self.canonical(filter, depth: 0)
        wantedValues = WantedValues(filter)
        self.namespace = namespace
        self.filter = filter
    }

    /// Whether a document of the collection matches the filter.
    public func matches(_ document: BSONDocument) -> Bool { compiled.matches(document) }

    /// Returns the conditions sorted by name; values keep the order of their fields, which matters.
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
        // Conditions with equal names keep their order.
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
        where !key.hasBytePrefix("$") || ["$not", "$elemMatch"].contains(key):
            let isLiteral =
                !key.hasBytePrefix("$") && operators.keys.first?.hasBytePrefix("$") != true
            return isLiteral ? value : .document(try canonical(operators, depth: depth + 1))
        default: return value
        }
    }
}

extension SubscriptionQuery: CustomStringConvertible {
    /// The collection and the filter: `app.todos {"done":false}`.
    public var description: String { "\(namespace) \(filter)" }
}

extension SubscriptionQuery: Hashable {
    /// Compares the collections and the conditions, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        left.namespace == right.namespace && left.canonicalFilter == right.canonicalFilter
    }

    /// Hashes the collection and the sorted conditions.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(namespace)
        hasher.combine(canonicalFilter)
    }
}
