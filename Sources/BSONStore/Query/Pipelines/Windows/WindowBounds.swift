/// The bounds of a document's window.
struct WindowBounds: Sendable {
    /// The beginning or end of a window.
    enum Bound<Offset: Sendable>: Sendable {
        case unbounded
        case current
        case offset(Offset)
    }

    /// The measure of the bounds.
    enum Measure: Sendable {
        /// By the number of documents before and behind.
        case documents(lower: Bound<Int>, upper: Bound<Int>)
        /// By values of the sort field; for dates in a unit.
        case range(lower: Bound<BSONValue>, upper: Bound<BSONValue>, WindowUnit?)
    }

    let measure: Measure

    /// All documents of the partition.
    static let all = WindowBounds(
        measure: .documents(lower: .unbounded, upper: .unbounded))

    init(measure: Measure) { self.measure = measure }

    /// Parses the `window` of an output field.
    ///
    /// - Throws: `failedToParse`, 5339900, 5339901, 5339902 and others with MongoDB's text.
    init(
        _ value: BSONValue, sortedBy keys: [SortOrder.Key]?, _ scope: ExpressionScope
    ) throws(StoreError) {
        guard case .document(let document) = value else {
            throw StoreError(.failedToParse, "'window' field must be an object")
        }
        let (documents, range) = (document["documents"], document["range"])
        guard documents == nil || range == nil else {
            throw StoreError(
                .failedToParse,
                "Window bounds can specify either 'documents' or 'unit', not both.")
        }
        guard range != nil || document["unit"] == nil else {
            throw StoreError(
                .failedToParse,
                "Window bounds can only specify 'unit' with range-based bounds.")
        }
        if let documents {
            measure = try Self.documents(documents, document, scope)
            guard isUnbounded || keys != nil else {
                throw .location(5_339_901, "Document-based bounds require a sortBy")
            }
        } else if let range {
            measure = try Self.range(range, document, scope)
            guard let keys, keys.count == 1 else {
                throw .location(
                    5_339_902, "Range-based bounds require sortBy a single field")
            }
            guard !keys[0].isDescending else {
                throw .location(
                    8_947_401, "Range-based bounds require an ascending sortBy")
            }
        } else {
            guard document.isEmpty else {
                throw StoreError(
                    .failedToParse,
                    "'window' field can only contain 'documents' as the only argument or 'range' "
                        + "with an optional 'unit' field")
            }
            self = .all
        }
    }

    /// Whether each window begins at the partition's first document.
    var beginAtFirst: Bool {
        switch measure {
        case .documents(.unbounded, _), .range(.unbounded, _, _): true
        case .documents, .range: false
        }
    }

    /// Whether each window contains its own document.
    var containsCurrent: Bool {
        switch measure {
        case .documents(let lower, let upper):
            if case .offset(let place) = lower, place > 0 { return false }
            if case .offset(let place) = upper, place < 0 { return false }
        case .range(let lower, let upper, _):
            let zero = BSONValue.int32(0)
            if case .offset(let distance) = lower, BSONOrder.compare(distance, zero) == .greater {
                return false
            }
            if case .offset(let distance) = upper, BSONOrder.compare(distance, zero) == .less {
                return false
            }
        }
        return true
    }

    private var isUnbounded: Bool {
        if case .documents(.unbounded, .unbounded) = measure { true } else { false }
    }

    private static func documents(
        _ value: BSONValue, _ document: BSONDocument, _ scope: ExpressionScope
    ) throws(StoreError) -> Measure {
        guard document.count == 1 else {
            throw StoreError(
                .failedToParse,
                "'window' field that specifies documents cannot have other fields")
        }
        let (first, last) = try pair("documents", value)
        let read = { (value: BSONValue?) throws(StoreError) -> Int in
            guard let number = value?.wholeNumber, let small = Int32(exactly: number) else {
                throw StoreError(
                    .failedToParse, "Numeric document-based bounds must be an integer")
            }
            return Int(small)
        }
        let lower = try bound(first, scope, read)
        let upper = try bound(last, scope, read)
        if let from = number(lower), let to = number(upper), from > to {
            throw .location(
                5_339_900, "Lower bound must not exceed upper bound: [\(from), \(to)]")
        }
        return .documents(lower: lower, upper: upper)
    }

    private static func range(
        _ value: BSONValue, _ document: BSONDocument, _ scope: ExpressionScope
    ) throws(StoreError) -> Measure {
        let (first, last) = try pair("range", value)
        var unit: WindowUnit?
        if let name = document["unit"] {
            guard document.count == 2 else {
                throw StoreError(
                    .failedToParse,
                    "'window' field that specifies unit cannot have other fields besides 'range'")
            }
            guard case .string(let name) = name else {
                throw StoreError(.failedToParse, "'unit' must be a string")
            }
            unit = try WindowUnit(named: name)
        } else if document.count != 1 {
            throw StoreError(
                .failedToParse,
                "'window' field that specifies range cannot have other fields besides 'unit'")
        }
        let isTime = unit != nil
        let read = { (value: BSONValue?) throws(StoreError) -> BSONValue in
            guard let value, BSONNumber(value) != nil, !isTime || value.wholeNumber != nil else {
                throw StoreError(
                    .failedToParse,
                    isTime
                        ? "With 'unit', range-based bounds must be an integer"
                        : "Range-based bounds expression must be a number")
            }
            return value
        }
        let lower = try bound(first, scope, read)
        let upper = try bound(last, scope, read)
        if let from = number(lower), let to = number(upper),
            BSONOrder.compare(from, to) == .greater
        {
            throw .location(
                5_339_900,
                "Lower bound must not exceed upper bound: [\(ExpressionText.text(of: from)), "
                    + "\(ExpressionText.text(of: to))]")
        }
        return .range(lower: lower, upper: upper, unit)
    }

    private static func pair(
        _ name: String, _ value: BSONValue
    ) throws(StoreError) -> (BSONValue, BSONValue) {
        guard case .array(let array) = value, array.count == 2, let first = array[0],
            let last = array[1]
        else {
            throw StoreError(
                .failedToParse,
                "Window bounds must be a 2-element array: \(name): \(ShellText.text(of: value))")
        }
        return (first, last)
    }

    private static func bound<Offset>(
        _ value: BSONValue, _ scope: ExpressionScope,
        _ read: (BSONValue?) throws(StoreError) -> Offset
    ) throws(StoreError) -> Bound<Offset> {
        if case .string(let name) = value {
            switch name {
            case "unbounded": return .unbounded
            case "current": return .current
            default:
                throw StoreError(
                    .failedToParse,
                    "Window bounds must be 'unbounded', 'current', or a number.")
            }
        }
        guard let constant = try Expression(value, in: scope).constant else {
            throw StoreError(.failedToParse, "Window bounds expression must be a constant.")
        }
        return .offset(try read(constant))
    }

    private static func number(_ bound: Bound<Int>) -> Int? {
        switch bound {
        case .unbounded: nil
        case .current: 0
        case .offset(let offset): offset
        }
    }

    private static func number(_ bound: Bound<BSONValue>) -> BSONValue? {
        switch bound {
        case .unbounded: nil
        case .current: .int32(0)
        case .offset(let offset): offset
        }
    }
}

extension WindowBounds {
    /// Returns the positions of a document's window in its partition; empty if it contains no
    /// document.
    ///
    /// - Throws: 5429413, 5429414 or 5429513 if a range cannot be measured from the value.
    func places(of place: Int, in partition: WindowPartition) throws(StoreError) -> Range<Int> {
        try WorkBudget.spend()
        let count = partition.documents.count
        switch measure {
        case .documents(let lower, let upper):
            let from: Int? =
                switch lower {
                case .unbounded: nil
                case .current: place
                case .offset(let offset): place + offset
                }
            let to: Int? =
                switch upper {
                case .unbounded: nil
                case .current: place
                case .offset(let offset): place + offset
                }
            let first = min(count, max(0, from ?? 0))
            return first..<max(first, min(count, (to ?? count - 1) + 1))
        case .range(let lower, let upper, let unit):
            let base = partition.sortValues[place]
            try Self.check(base, unit)
            // Unlike 0, which includes documents with the same value, `current` is this document
            // only.
            let first =
                switch lower {
                case .unbounded: 0
                case .current: place
                case .offset(let offset):
                    Self.place(in: partition, Self.limit(offset, base, unit)) { $0 != .less }
                }
            let end =
                switch upper {
                case .unbounded: count
                case .current: place + 1
                case .offset(let offset):
                    Self.place(in: partition, Self.limit(offset, base, unit)) { $0 == .greater }
                }
            return first..<max(first, end)
        }
    }

    /// Returns the position of the first document whose value is in this order with a limit, as are
    /// all later ones.
    private static func place(
        in partition: WindowPartition, _ limit: BSONValue, _ holds: (BSONOrder) -> Bool
    ) -> Int {
        partition.sortValues.insertionPlace { holds(BSONOrder.compare($0, limit)) }
    }

    /// Checks the value from which a range is measured.
    private static func check(_ base: BSONValue, _ unit: WindowUnit?) throws(StoreError) {
        if unit != nil {
            guard base.type == .datetime else {
                throw .location(
                    5_429_513,
                    "Invalid range: Expected the sortBy field to be a Date, but it was "
                        + base.type.alias)
            }
            return
        }
        guard base.type != .datetime else {
            throw .location(
                5_429_413,
                "For windows that involve date or time ranges, a unit must be provided.")
        }
        guard BSONNumber(base) != nil else {
            throw .location(
                5_429_414,
                "Invalid range: Expected the sortBy field to be a number, but it was "
                    + base.type.alias)
        }
    }

    /// Returns the value at an offset behind another.
    private static func limit(
        _ offset: BSONValue, _ base: BSONValue, _ unit: WindowUnit?
    ) -> BSONValue {
        if let unit, case .datetime(let date) = base {
            let count = offset.wholeNumber ?? 0
            let extreme = BSONDatetime(milliseconds: count < 0 ? .min : .max)
            return .datetime(unit.adding(count, to: date) ?? extreme)
        }
        guard let sum = BSONArithmetic.add(base, offset) else {
            let double = (NumberCoercion.double(base) ?? 0)
            return .double(double + (NumberCoercion.double(offset) ?? 0))
        }
        return sum
    }
}
