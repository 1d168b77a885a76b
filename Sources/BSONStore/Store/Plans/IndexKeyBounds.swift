/// The bounds `min` (inclusive) and `max` (exclusive) on whole index keys.
struct IndexKeyBounds {
    let lower: [UInt8]?
    let upper: [UInt8]?

    /// The error for bounds that do not fit the index.
    static let isIncompatible = StoreError(
        .indexBoundsIncompatible, "The index chosen is not compatible with min()/max()")

    /// Parses the options.
    ///
    /// - Parameters:
    ///   - collation: the collation of the index.
    ///   - filter: the filter of the query, whose collation the index must have if a bound holds a
    ///     text.
    /// - Throws: 51174 and 51175 with MongoDB's messages for bounds that do not fit the index.
    init(
        _ options: FindOptions, keys: [IndexDefinition.Key], _ collation: Collation?,
        of filter: Filter
    ) throws(StoreError) {
        if filter.collation != collation {
            let values = options.min.map(\.value) + options.max.map(\.value)
            guard !values.contains(where: Collation.concerns) else { throw Self.isIncompatible }
        }
        lower = try Self.key(options.min, keys, collation)
        upper = try Self.key(options.max, keys, collation)
        if let lower, let upper, !lower.lexicographicallyPrecedes(upper) {
            throw StoreError(
                .indexBoundsReversed,
                "The value provided for min() does not come "
                    + "before the value provided for max() in the hinted index")
        }
    }

    private static func key(
        _ bound: BSONDocument, _ keys: [IndexDefinition.Key], _ collation: Collation?
    ) throws(StoreError) -> [UInt8]? {
        guard !bound.isEmpty else { return nil }
        guard bound.keys.hasSameBytes(as: keys.map(\.path)) else {
            throw isIncompatible
        }
        var joined: [UInt8] = []
        for (key, value) in zip(keys, bound.map(\.value)) {
            let bytes = BSONKey.encode(collation?.key(value) ?? value)
            joined += key.kind == .descending ? bytes.map { ~$0 } : bytes
        }
        return joined
    }
}
