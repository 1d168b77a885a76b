/// The application of an update's operators to one document.
struct UpdateApplier {
    /// The information that an update uses in addition to the document.
    struct Context {
        let filters: ArrayFilters
        /// The array position that `$` stands for.
        let position: () -> Int?
        /// Whether an upsert is creating the document.
        let isInsert: Bool
        let collation: Collation?
    }

    /// The document before the update.
    let original: BSONDocument
    let context: Context
    /// The document before the update, for operators that read other fields than their own.
    let index: IndexedDocument
    /// The keys and positions that lead to the current place.
    private(set) var path: [String] = []

    init(_ original: BSONDocument, _ context: Context) {
        self.original = original
        index = IndexedDocument(original)
        self.context = context
    }

    /// The content of the place that a node changes.
    enum Place {
        case value(BSONValue)
        /// A missing value that can be created.
        case missing
        /// A missing value that cannot be created: a value without fields is in the way.
        case blocked(Obstacle)
    }

    /// A value that cannot have the next field of the path.
    struct Obstacle {
        let part: String
        let key: String
        let value: BSONValue
    }

    /// The result for a value.
    enum Outcome {
        /// The value stays, and the document does not count as modified.
        case same
        case set(BSONValue)
        case removed
    }

    /// Returns the document after the update, `nil` if it is unchanged.
    ///
    /// - Throws: an error with MongoDB's code and text; the document is then unchanged.
    mutating func run(_ root: UpdateFields) throws(StoreError) -> BSONDocument? {
        let outcome = try outcome(of: .fields(root), at: .value(.document(original)))
        // The budget may have ended a loop early.
        try WorkBudget.check()
        guard case .set(.document(let changed)) = outcome, changed != original else { return nil }
        return changed
    }

    private mutating func outcome(
        of node: UpdateNode, at place: Place
    ) throws(StoreError) -> Outcome {
        switch node {
        case .leaf(let operation, let depth): return try leaf(operation, depth, at: place)
        case .fields(let fields):
            return try outcome(of: try fields.resolved(context.position, path), at: place)
        case .elements(let branches):
            guard case .value(let value) = place else {
                throw StoreError(
                    .badValue,
                    "The path '\(displayPath)' must exist in the document in order to apply array "
                        + "updates.")
            }
            guard case .array(let array) = value else {
                throw StoreError(
                    .badValue,
                    "Cannot apply array updates to non-array element \(path.last ?? ""): "
                        + ShellText.text(of: value))
            }
            return try elements(of: array, branches)
        }
    }

    private mutating func outcome(
        of branches: [UpdateBranch], at place: Place
    ) throws(StoreError) -> Outcome {
        switch place {
        case .value(.document(let document)): return try fields(of: document, branches)
        case .value(.array(let array)): return try positions(of: array, branches)
        case .value(let value):
            for branch in branches {
                _ = try below(branch, obstacle(branch.name, value))
            }
            return .same
        case .missing:
            let outcome = try fields(of: BSONDocument(), branches)
            guard case .set = outcome else { return .same }
            return outcome
        case .blocked:
            for branch in branches { _ = try below(branch, place) }
            return .same
        }
    }

    private func obstacle(_ part: String, _ value: BSONValue) -> Place {
        .blocked(Obstacle(part: part, key: path.last ?? "", value: value))
    }

    private mutating func below(
        _ branch: UpdateBranch, _ place: Place
    ) throws(StoreError) -> Outcome {
        path.append(branch.name)
        defer { path.removeLast() }
        return try outcome(of: branch.node, at: place)
    }

    private mutating func fields(
        of document: BSONDocument, _ branches: [UpdateBranch]
    ) throws(StoreError) -> Outcome {
        var document = EditedDocument(document)
        var isChanged = false
        for branch in branches {
            try WorkBudget.spend()
            let old = document.value(of: branch.name)
            switch try below(branch, old.map { .value($0) } ?? .missing) {
            case .same: continue
            case .set(let value):
                // No document has a key that contains a NUL.
                try Self.setting { () throws(BSONError) in
                    try document.set(validatingKey: branch.name, to: value)
                }
            case .removed: document.set(branch.name, to: nil)
            }
            isChanged = true
        }
        return isChanged ? .set(.document(document.finished())) : .same
    }

    private static func setting(_ body: () throws(BSONError) -> Void) throws(StoreError) {
        do throws(BSONError) { try body() } catch {
            throw StoreError(.badValue, error.message, underlying: error)
        }
    }

    private mutating func positions(
        of array: BSONArray, _ branches: [UpdateBranch]
    ) throws(StoreError) -> Outcome {
        if branches.count == 1 { return try position(of: array, branches[0]) }
        var values = array.values
        // The array as it is now, for errors.
        var current: BSONArray? = array
        var isChanged = false
        for branch in branches {
            try WorkBudget.spend()
            guard let index = UpdatePath.index(branch.name) else {
                let whole = current ?? BSONArray(values)
                current = whole
                _ = try below(branch, obstacle(branch.name, .array(whole)))
                continue
            }
            // A literal `nil` would be a null.
            let old = index < values.count ? Optional(values[index]) : Optional.none
            switch try below(branch, old.map { .value($0) } ?? .missing) {
            case .same: continue
            case .set(let value): try Self.set(value, at: index, of: &values)
            // In an array the position stays.
            case .removed: values[index] = .null
            }
            current = nil
            isChanged = true
        }
        return isChanged ? .set(.array(BSONArray(values))) : .same
    }

    /// Changes one position of an array without decoding the others.
    private mutating func position(
        of array: BSONArray, _ branch: UpdateBranch
    ) throws(StoreError) -> Outcome {
        guard let index = UpdatePath.index(branch.name) else {
            _ = try below(branch, obstacle(branch.name, .array(array)))
            return .same
        }
        var array = array
        let old = array[index]
        switch try below(branch, old.map { .value($0) } ?? .missing) {
        case .same: return .same
        case .set(let value):
            if old == nil {
                var values = array.values
                try Self.set(value, at: index, of: &values)
                array = BSONArray(values)
            } else {
                array.replace(at: index, by: value)
            }
        case .removed: array.replace(at: index, by: .null)
        }
        return .set(.array(array))
    }

    /// Sets a position of an array; a short array is filled with nulls up to it.
    private static func set(
        _ value: BSONValue, at index: Int, of values: inout [BSONValue]
    ) throws(StoreError) {
        guard index >= values.count else { return values[index] = value }
        guard index - values.count <= UpdateLimits.paddingMax else {
            throw StoreError(
                .cannotBackfillArray,
                "can't backfill more than \(UpdateLimits.paddingMax) elements")
        }
        values += repeatElement(.null, count: index - values.count)
        values.append(value)
    }

    /// Changes the elements that filters select; all are selected before the first change.
    private mutating func elements(
        of array: BSONArray, _ branches: [UpdateBranch]
    ) throws(StoreError) -> Outcome {
        var values = array.values
        let chosen = values.map { value in
            WorkBudget.isOver() ? [] : branches.filter { context.filters.passes(value, $0.name) }
        }
        try WorkBudget.check()
        var isChanged = false
        for (index, branches) in chosen.enumerated() {
            try WorkBudget.spend()
            guard !branches.isEmpty else { continue }
            let name = String(index)
            let node = try UpdateNode.merging(branches.map(\.node), path + [name])
            switch try below(UpdateBranch(name: name, node: node), .value(values[index])) {
            case .same: continue
            case .set(let value): values[index] = value
            case .removed: values[index] = .null
            }
            isChanged = true
        }
        return isChanged ? .set(.array(BSONArray(values))) : .same
    }
}
