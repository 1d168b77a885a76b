#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Applies the operators of an update to one document.
struct Updating {
    /// The document before the update.
    let original: BSONDocument
    /// The array position that `$` stands for, by the path of the array.
    let matchedIndex: (UpdatePath, Int) -> Int?
    let arrayFilters: [String: Filter]
    /// Whether the document is being made by an upsert.
    let isInsert: Bool

    /// What becomes of a value.
    enum Outcome {
        /// It stays, and nothing counts as modified.
        case same
        case set(BSONValue)
        case removed
    }

    /// The document after the update, `nil` when it is the same.
    ///
    /// - Throws: with MongoDB's codes and texts; the document is then as before.
    func run(_ modifiers: [UpdateModifier]) throws(StoreError) -> BSONDocument? {
        var document = original
        var isChanged = false
        for modifier in modifiers {
            let outcome = try outcome(of: .document(document), at: 0, modifier)
            guard case .set(.document(let changed)) = outcome else { continue }
            document = changed
            isChanged = true
        }
        guard isChanged, document != original else { return nil }
        try checkID(document)
        return document
    }

    private func checkID(_ document: BSONDocument) throws(StoreError) {
        guard !isInsert || original["_id"] != nil, let before = original["_id"] else { return }
        if let after = document["_id"], BSONOrder.compare(before, after) == .equal { return }
        throw StoreError(
            .immutableField,
            "Performing an update on the path '_id' would modify the immutable field '_id'",
            documentID: before)
    }

    /// What becomes of a value that the parts before a position lead to.
    func outcome(
        of old: BSONValue?, at position: Int, _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        guard position < modifier.path.parts.count else {
            return try result(of: modifier, on: old)
        }
        switch modifier.path.parts[position] {
        case .field(let key, let index):
            return try field(key, index, of: old, at: position, modifier)
        case .matched:
            let values = try array(old, at: position, modifier)
            guard let index = matchedIndex(modifier.path, position), index < values.count else {
                throw StoreError(
                    .badValue,
                    "The positional operator did not find the match needed from the query.")
            }
            return try element(index, of: values, at: position, modifier)
        case .all:
            return try elements(old, at: position, modifier) { _ in true }
        case .filtered(let name):
            let filter = arrayFilters[name] ?? .all
            return try elements(old, at: position, modifier) { value in
                filter.matches([name: value] as BSONDocument)
            }
        }
    }

    private func field(
        _ key: String, _ index: Int?, of old: BSONValue?, at position: Int,
        _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        switch old {
        case .document(var document):
            switch try outcome(of: document[key], at: position + 1, modifier) {
            case .same: return .same
            case .set(let value): document[key] = value
            case .removed:
                guard document[key] != nil else { return .same }
                document[key] = nil
            }
            return .set(.document(document))
        case .array(let array):
            guard let index else { return try notViable(key, old, at: position, modifier) }
            return try element(index, of: array.values, at: position, modifier)
        case nil:
            guard modifier.operation.creates else { return .same }
            let inner = try outcome(of: nil, at: position + 1, modifier)
            guard case .set(let value) = inner else { return .same }
            return .set([key: value])
        default: return try notViable(key, old, at: position, modifier)
        }
    }

    /// Changes one position of an array, which grows with nulls up to it when it is short.
    private func element(
        _ index: Int, of values: [BSONValue], at position: Int, _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        let old = index < values.count ? values[index] : nil
        if old == nil, !modifier.operation.creates { return .same }
        var values = values
        switch try outcome(of: old, at: position + 1, modifier) {
        case .same: return .same
        case .removed:
            guard old != nil else { return .same }
            values[index] = .null
        case .set(let value):
            guard index - values.count <= Self.paddingMax else {
                throw StoreError(
                    StoreError.Code(rawValue: 34),
                    "Cannot create element '\(index)' in an array of \(values.count): more than "
                        + "\(Self.paddingMax) elements would have to be filled in")
            }
            while values.count <= index { values.append(.null) }
            values[index] = value
        }
        return .set(.array(BSONArray(values)))
    }

    /// An array grows by at most so many nulls at once, as on the server.
    private static let paddingMax = 1_500_000

    private func elements(
        _ old: BSONValue?, at position: Int, _ modifier: UpdateModifier,
        where isWanted: (BSONValue) -> Bool
    ) throws(StoreError) -> Outcome {
        var values = try array(old, at: position, modifier)
        var isChanged = false
        for index in values.indices where isWanted(values[index]) {
            switch try outcome(of: values[index], at: position + 1, modifier) {
            case .same: continue
            case .set(let value): values[index] = value
            case .removed: values[index] = .null
            }
            isChanged = true
        }
        return isChanged ? .set(.array(BSONArray(values))) : .same
    }

    private func array(
        _ old: BSONValue?, at position: Int, _ modifier: UpdateModifier
    ) throws(StoreError) -> [BSONValue] {
        let way = Self.path(modifier.path, to: position)
        switch old {
        case .array(let array): return array.values
        case nil:
            throw StoreError(
                .badValue,
                "The path '\(way)' must exist in the document in order to apply array updates.")
        case .some(let value):
            let key = way.split(separator: ".").last.map(String.init) ?? way
            throw StoreError(
                .badValue,
                "Cannot apply array updates to non-array element \(key): "
                    + ShellText.text(of: value))
        }
    }

    private func notViable(
        _ key: String, _ old: BSONValue?, at position: Int, _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        if case .unset = modifier.operation { return .same }
        let holder = Self.path(modifier.path, to: position).split(separator: ".").last ?? ""
        let element = "{\(holder): \(ShellText.text(of: old ?? .null))}"
        guard modifier.operation.creates else {
            throw StoreError(
                .pathNotViable,
                "Cannot use the part (\(key)) of (\(modifier.path)) to traverse the element "
                    + "(\(element))", documentID: original["_id"])
        }
        throw StoreError(
            .pathNotViable, "Cannot create field '\(key)' in element \(element)",
            documentID: original["_id"])
    }

    private static func path(_ path: UpdatePath, to position: Int) -> String {
        path.description.split(separator: ".", omittingEmptySubsequences: false)
            .prefix(position).joined(separator: ".")
    }

    /// Milliseconds since 1970, for `$currentDate`.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
