internal import BSONCore

/// A filter document under construction, whose keys are distinct.
struct FilterDraft {
    private enum Entry {
        case operators([FilterOperator])
        case value(BSONValue)
    }

    private var entries: [(key: String, entry: Entry)] = []

    /// Adds operators at a path, together with others there if their names differ.
    ///
    /// - Returns: whether they had room.
    mutating func add(_ operators: [FilterOperator], at path: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.key.hasSameBytes(as: path) }) else {
            entries.append((path, .operators(operators)))
            return true
        }
        guard case .operators(let known) = entries[index].entry,
            !known.contains(where: { one in
                operators.contains { $0.name.hasSameBytes(as: one.name) }
            })
        else { return false }
        entries[index].entry = .operators(known + operators)
        return true
    }

    /// Adds the entries of a filter if none of their keys is in use.
    ///
    /// - Returns: whether they had room.
    mutating func add(_ filter: BSONDocument) -> Bool {
        let keys = Set(filter.keys.map { Name($0) })
        guard !entries.contains(where: { keys.contains(Name($0.key)) }) else { return false }
        for (key, value) in filter { entries.append((key, .value(value))) }
        return true
    }

    /// The filter.
    var document: BSONDocument {
        BSONDocument(
            entries.map { key, entry in
                switch entry {
                case .operators(let operators): (key, FilterOperator.condition(operators))
                case .value(let value): (key, value)
                }
            })
    }
}
