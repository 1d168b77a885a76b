internal import BSONStore

/// Bounds a query by keys of an index, as the arguments `min` and `max` ask for it.
///
/// Source: MongoDB manual, "cursor.min()"; the server's `query_planner.cpp`.
struct FindBounds: Sendable {
    private let lower: BSONDocument?
    private let upper: BSONDocument?
    private let pattern: BSONDocument

    /// Reads the bounds; `nil` where there are none.
    ///
    /// - Throws: 51173 without a hint, 51174, 51175 for other fields than the index's, 2 for an
    ///   index that is not there.
    init?(_ call: CommandCall, _ indexes: [IndexDefinition]) throws {
        lower = call.document("min").flatMap { $0.isEmpty ? nil : $0 }
        upper = call.document("max").flatMap { $0.isEmpty ? nil : $0 }
        guard lower != nil || upper != nil else { return nil }
        guard let hint = call["hint"] else {
            throw CommandFault(
                51173, "When using min()/max() a hint of which index to use must be provided")
        }
        let index = indexes.first { index in
            index.name == hint.stringValue
                || hint.documentValue.map { index.keyPattern.contentEquals($0) } ?? false
        }
        guard let index else {
            throw CommandFault(
                .badValue,
                "error processing query: planner returned error :: caused by :: hint provided does "
                    + "not correspond to an existing index")
        }
        pattern = index.keyPattern
        for bound in [lower, upper] {
            guard let bound, bound.keys != pattern.keys else { continue }
            throw CommandFault(
                51174,
                "The index chosen is not compatible with min/max: requested bounds do not have the "
                    + "fields of the index")
        }
    }

    /// The order of the index's keys.
    func order() throws -> SortOrder { try SortOrder(pattern) }

    /// Whether a document's key lies within the bounds.
    func contain(_ document: BSONDocument) -> Bool {
        if let lower, compare(document, lower) == .less { return false }
        if let upper, compare(document, upper) != .less { return false }
        return true
    }

    private func compare(_ document: BSONDocument, _ bound: BSONDocument) -> BSONOrder {
        for (path, direction) in pattern {
            let order = BSONOrder.compare(
                document[path: path] ?? .null, bound[path] ?? .null)
            guard order != .equal else { continue }
            return direction.wholeNumber ?? 1 < 0 ? order.reversed : order
        }
        return .equal
    }
}
