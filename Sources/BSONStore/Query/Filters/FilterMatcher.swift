/// A test of documents against one filter.
///
/// ```swift
/// let isMatch = try FilterMatcher.with(filter) { try $0.matches(document) }
/// ```
///
/// A filter is a tree. Its inner nodes are *clauses*: "and", "or", "not". Its leaves are
/// *conditions*: a path, and a test of the value at its end. The filter
/// `{"age": {"$gte": 18}, "$or": [{"city": "Oslo"}, {"tags.0": "new"}]}` is the tree
///
/// ```
/// and
/// ├── age ≥ 18
/// └── or
///     ├── city = "Oslo"
///     └── tags.0 = "new"
/// ```
///
/// A leaf may also be a test of the whole document, such as `$expr` (a *document test*). A path is a
/// range of steps in the filter's list of all steps; each step is one key.
///
/// Three words are kept apart: a value *passes* a test; a condition *holds* if its test was passed or,
/// for a negated one such as `$ne`, was not; a document or an element *matches* a clause.
///
/// This file goes down the tree: from clauses to the fields of a document, along the paths of
/// conditions, to values. `FilterMatcher+Values.swift` tests the values (`passes`), and values that
/// are not there (`missingPasses`). The types with "raw", "view" and "unchecked" in their names read
/// bytes in place, for speed, and hold all pointers.
///
/// A command may have a time limit (``WorkBudget``). When it has passed, loops stop and return
/// `false`, which a "not" further up turns into `true`: from then on no result means anything. So the
/// functions that other files call ask for the limit after they have a result. They throw its error or
/// return `false`.
struct FilterMatcher {
    let filter: CompiledFilterView
    let computed: ComputedTests

    /// Calls a closure with a matcher for a filter, to be used for any number of documents.
    ///
    /// - Parameter frame: the values of the variables that `$expr` may name.
    @inline(__always)
    static func with<R, E: Error>(
        _ filter: CompiledFilter, _ frame: ExpressionFrame? = nil,
        _ body: (FilterMatcher) throws(E) -> R
    ) throws(E) -> R {
        try ComputedTests.with(filter, frame) { (computed) throws(E) -> R in
            try filter.withView { (view) throws(E) -> R in
                try body(FilterMatcher(filter: view, computed: computed))
            }
        }
    }
}

// MARK: - Documents and values

extension FilterMatcher {
    /// Whether a document matches the filter.
    ///
    /// - Throws: the error of an `$expr` or the like; that of the time limit.
    @inline(__always)
    func evaluate(_ document: RawDocument) throws(StoreError) -> Bool {
        let isMatch = matches(document, filter.root)
        try WorkBudget.spend()
        if let error = computed.error { throw error }
        return isMatch
    }

    /// Whether a document matches the filter; one with an error, or for which no time is left, does
    /// not.
    @inline(__always)
    func matches(_ document: RawDocument) -> Bool {
        matches(document, filter.root) && computed.error == nil && !WorkBudget.isOver(after: 0)
    }

    /// Whether a single value matches a filter whose paths are empty, as in `$pull`; `false` if no
    /// time is left.
    func matches(_ value: BSONRawValue) -> Bool {
        matches(value, filter.root) && !WorkBudget.isOver(after: 0)
    }
}

// MARK: - Clauses

extension FilterMatcher {
    /// Whether a document matches a clause.
    private func matches(_ document: RawDocument, _ clause: CompiledFilter.Clause) -> Bool {
        switch clause.kind {
        case .and:
            guard clause.keyGroups.isEmpty || fieldsMatch(document, clause) else { return false }
            for part in filter.parts(of: clause) where !matches(document, part) { return false }
            return true
        case .or:
            for part in filter.parts(of: clause) {
                if WorkBudget.isOver() { return false }
                if matches(document, part) { return true }
            }
            return false
        case .not: return !matches(document, filter.onlyPart(of: clause))
        case .documentTest: return computed.documentPasses(clause.documentTest, document)
        }
    }

    /// Whether an element of an array matches a clause, whose paths are empty (`$elemMatch`).
    private func matches(_ value: BSONRawValue, _ clause: CompiledFilter.Clause) -> Bool {
        switch clause.kind {
        case .and:
            for number in 0..<clause.keyGroups.count {
                let group = filter.keyGroup(number, of: clause)
                for condition in filter.conditions(of: group)
                where !condition.holds(passes(value, condition)) { return false }
            }
            for part in filter.parts(of: clause) where !matches(value, part) { return false }
            return true
        case .or:
            for part in filter.parts(of: clause) {
                if WorkBudget.isOver() { return false }
                if matches(value, part) { return true }
            }
            return false
        case .not: return !matches(value, filter.onlyPart(of: clause))
        case .documentTest:
            // A test of a document does not apply to other values.
            return false
        }
    }
}

// MARK: - Fields

extension FilterMatcher {
    /// Whether a document's fields meet all conditions of a clause, in one walk over the fields.
    ///
    /// The conditions are grouped by the first key of their paths. The walk ends once it has found the
    /// keys of all groups.
    private func fieldsMatch(_ document: RawDocument, _ clause: CompiledFilter.Clause) -> Bool {
        var missing = SmallSet(below: clause.keyGroups.count)
        var elements = document.elements
        while !missing.isEmpty, let element = elements.next() {
            guard let number = keyGroup(of: element, in: missing, of: clause) else { continue }
            missing.remove(number)
            let group = filter.keyGroup(number, of: clause)
            guard fieldMatches(element.value, group) else { return false }
        }
        return missingFieldsMatch(missing, clause)
    }

    /// Returns the number of the missing key group to which a field belongs; `nil` for other fields.
    @inline(__always)
    private func keyGroup(
        of element: BSONRawElement, in missing: SmallSet, of clause: CompiledFilter.Clause
    ) -> Int? {
        let key = RawKey(element.key)
        for number in missing where filter.hasKey(filter.keyGroup(number, of: clause), key) {
            return number
        }
        return nil
    }

    /// Whether a field's value meets the conditions whose paths begin with the field's key.
    private func fieldMatches(_ value: BSONRawValue, _ group: CompiledFilter.KeyGroup) -> Bool {
        for condition in filter.conditions(of: group) {
            let hasPassed = follow(condition, from: condition.path.lowerBound + 1, value)
            guard condition.holds(hasPassed) else { return false }
        }
        return true
    }

    /// Whether the conditions on fields that the document lacks hold.
    @inline(__always)
    private func missingFieldsMatch(_ missing: SmallSet, _ clause: CompiledFilter.Clause) -> Bool {
        for number in missing {
            for condition in filter.conditions(of: filter.keyGroup(number, of: clause))
            where !condition.holds(missingPasses(condition)) { return false }
        }
        return true
    }
}

// MARK: - Paths

extension FilterMatcher {
    /// Follows the rest of a condition's path from a value on; whether a value at the end passes the
    /// test.
    ///
    /// As in MongoDB, a path enters arrays: for `tags.name` it looks at each element's `name`, and for
    /// `tags.0` also at the first element.
    ///
    /// - Parameter step: the next step of the path; at the path's end, its upper bound.
    private func follow(
        _ condition: ConditionView, from step: Int32, _ value: BSONRawValue
    ) -> Bool {
        if step == condition.path.upperBound { return endPasses(value, condition) }
        if value.isDocument { return follow(condition, from: step, inDocument: value.document) }
        if value.isArray {
            // As in MongoDB, an empty last key, as in `a.`, names the array itself.
            if step + 1 == condition.path.upperBound, filter.pathStep(step).key.isEmpty {
                return endPasses(value, condition)
            }
            return follow(condition, from: step, inArray: value.document)
        }
        return missingPasses(condition)
    }

    private func follow(
        _ condition: ConditionView, from step: Int32, inDocument document: RawDocument
    ) -> Bool {
        let key = filter.pathStep(step)
        var elements = document.elements
        while let element = elements.next() {
            guard filter.hasKey(key, element.key) else { continue }
            return follow(condition, from: step + 1, element.value)
        }
        return missingPasses(condition)
    }

    /// Follows a path from an array in the middle of it.
    ///
    /// For the path `a.0.b`, the array in `a` is searched in two ways: each element that is a
    /// document for `0.b`, and the element at position 0 for `b`. If the position is the path's last
    /// key, the element is tested as a whole: the elements of an array in it are not.
    private func follow(
        _ condition: ConditionView, from step: Int32, inArray array: RawDocument
    ) -> Bool {
        // -1, which no element has, if the key is not a number.
        let wantedIndex = filter.pathStep(step).index
        let isLast = step + 1 == condition.path.upperBound
        var index: Int32 = 0
        var elements = array.elements
        while let value = elements.next()?.value {
            if WorkBudget.isOver() { return false }
            if value.isDocument, follow(condition, from: step, inDocument: value.document) {
                return true
            }
            if index == wantedIndex {
                if isLast {
                    if passes(value, condition) { return true }
                } else if value.isDocument || value.isArray {
                    if follow(condition, from: step + 1, value) { return true }
                }
            }
            index += 1
        }
        // This is no missing field, which would equal null: as in MongoDB, `{"a.b": null}` does not
        // match `{"a": [1]}`.
        return false
    }

    /// Whether the value at a path's end passes: itself, or an element if it is an array.
    private func endPasses(_ value: BSONRawValue, _ condition: ConditionView) -> Bool {
        if value.isArray, condition.triesElements {
            var elements = value.document.elements
            while let element = elements.next() {
                if WorkBudget.isOver() { return false }
                if passes(element.value, condition) { return true }
            }
        }
        return passes(value, condition)
    }
}

// MARK: - Elements of arrays

extension FilterMatcher {
    /// Whether an array has an element that matches the condition's clause (`$elemMatch`).
    func hasElement(_ value: BSONRawValue, _ condition: ConditionView) -> Bool {
        guard value.isArray else { return false }
        let clause = filter.elementClause(of: condition)
        var elements = value.document.elements
        while let element = elements.next()?.value {
            if WorkBudget.isOver() { return false }
            if condition.test == .hasElement {
                // The clause is about the element itself: `{$elemMatch: {$gt: 3}}`.
                if matches(element, clause) { return true }
            } else if element.isDocument || element.isArray {
                // The clause is about the element's fields: `{$elemMatch: {age: 3}}`.
                if matches(element.document, clause) { return true }
            }
        }
        return false
    }
}

// MARK: - Stored documents

extension FilterMatcher {
    /// Whether a document from the file matches, which was not validated since it was read.
    ///
    /// Any bytes are safe to pass. Checking a document takes longer than most tests of it. A filter
    /// that only compares top-level fields (``CompiledFilter/readsTopLevelOnly``) therefore checks no
    /// more than the bytes that it reads.
    ///
    /// - Throws: as ``evaluate(_:)``.
    @inline(__always)
    func matchesStored(
        _ document: RawDocument, readsTopLevelOnly: Bool
    ) throws(StoreError) -> StoredMatchResult {
        if readsTopLevelOnly { return try uncheckedFieldsMatch(document) }
        guard BSONValidator.isValid(document.bytes) else { return .damaged }
        return try evaluate(document) ? .passes : .fails
    }

    /// Does the work of `fieldsMatch` for the whole filter, and checks each field that it reads.
    private func uncheckedFieldsMatch(
        _ document: RawDocument
    ) throws(StoreError) -> StoredMatchResult {
        guard var elements = UncheckedElements(document) else { return .damaged }
        let clause = filter.root
        var missing = SmallSet(below: clause.keyGroups.count)
        while !missing.isEmpty, let element = elements.next() {
            guard let number = keyGroup(of: element, in: missing, of: clause) else { continue }
            missing.remove(number)
            let group = filter.keyGroup(number, of: clause)
            if element.value.isCheckedScalar {
                guard fieldMatches(element.value, group) else { return .fails }
            } else {
                guard BSONValidator.isValid(document.bytes) else { return .damaged }
                guard try containerMatches(element.value, group) else { return .fails }
            }
        }
        if elements.isDamaged { return .damaged }
        return missingFieldsMatch(missing, clause) ? .passesUnchecked : .fails
    }

    /// Whether a valid value matches that may be an array, whose elements are tested one by one.
    @inline(never)
    private func containerMatches(
        _ value: BSONRawValue, _ group: CompiledFilter.KeyGroup
    ) throws(StoreError) -> Bool {
        let isMatch = fieldMatches(value, group)
        try WorkBudget.spend()
        return isMatch
    }
}

extension CompiledFilter {
    /// Whether all conditions are comparisons of top-level fields, joined by "and".
    var readsTopLevelOnly: Bool {
        guard let root = clauses.first, root.kind == .and, root.subclauses.isEmpty,
            !root.keyGroups.isEmpty
        else { return false }
        return conditions.allSatisfy { $0.path.count == 1 && $0.test.isComparison }
    }
}

extension CompiledFilter.Test {
    /// Whether numbers, dates and texts pass by their bytes alone.
    fileprivate var isComparison: Bool {
        switch self {
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .exists, .hasType, .hasSize:
            true
        case .isIn, .matches, .modulo, .hasDocument, .hasElement, .computed: false
        }
    }
}
