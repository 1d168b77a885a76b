internal import BSONStore

/// Says how a document became another, as the server's log of operations says it.
///
/// Fields are compared in their order, values by their bytes. What an operator wrote as a whole is
/// told as a whole; what a pipeline made is told by its parts where that is shorter.
///
/// Source: the server's `document_diff_calculator.cpp`.
struct OplogDelta {
    /// Whether it is of an array.
    let isArray: Bool
    /// What differs, by field or place.
    private(set) var changes: [Field] = []
    /// How many elements an array that became shorter has.
    private(set) var newSize: Int?

    /// A field, or an element by its place, and what happened to it.
    struct Field {
        let key: String
        let change: FieldChange
    }

    /// Compares the documents of an update; `nil` when it is told as a replacement.
    init?(_ change: StoreChange) {
        guard let before = change.before, let after = change.after else { return nil }
        let isByPipeline = change[.isByPipeline] != nil
        let rules = Rules(
            isBounded: isByPipeline, whole: Self.paths(change[.writtenPaths]),
            pushed: Self.paths(change[.pushedPaths]))
        self.init(before, after, rules)
        // The log's entry has so many bytes around the difference.
        guard !isByPipeline || byteCount + 15 < after.byteCount else { return nil }
    }

    private static func paths(_ value: BSONValue?) -> [ArraySlice<String>] {
        guard case .array(let array)? = value else { return [] }
        return array.values.compactMap { path in
            path.stringValue.map { $0.dottedParts[...] }
        }
    }

    /// What is known of the update below a place.
    private struct Rules {
        /// Whether a difference that is longer than the value is told by the value.
        let isBounded: Bool
        /// The paths whose values were written as a whole.
        let whole: [ArraySlice<String>]
        /// The paths of arrays that something was pushed into.
        let pushed: [ArraySlice<String>]

        func below(_ key: String, isArray: Bool) -> Rules {
            Rules(
                isBounded: isBounded, whole: Self.rest(whole, key, isArray),
                pushed: Self.rest(pushed, key, isArray))
        }

        private static func rest(
            _ paths: [ArraySlice<String>], _ key: String, _ isArray: Bool
        ) -> [ArraySlice<String>] {
            if paths.isEmpty { return [] }
            return paths.compactMap { path in
                guard let first = path.first, first == key || (isArray && first.hasPrefix("$"))
                else { return nil }
                return path.dropFirst()
            }
        }

        /// Whether a value is told as a whole, here.
        func tellsWhole(_ before: BSONValue, _ after: BSONValue) -> Bool {
            if whole.contains(where: \.isEmpty) { return true }
            guard pushed.contains(where: \.isEmpty), case .array(let old) = before,
                case .array(let new) = after
            else { return false }
            return !new.values.starts(with: old.values)
        }
    }

    private init(_ before: BSONDocument, _ after: BSONDocument, _ rules: Rules) {
        isArray = false
        var removed: [String] = []
        var old = before.makeIterator()
        var new = after.makeIterator()
        var left = old.next()
        var right = new.next()
        while let one = left, let other = right {
            if one.key == other.key {
                compare(one.key, one.value, other.value, rules)
                right = new.next()
            } else {
                // It is gone, or comes again further behind.
                removed.append(one.key)
            }
            left = old.next()
        }
        while let one = left {
            removed.append(one.key)
            left = old.next()
        }
        var inserted: Set<Name> = []
        while let other = right {
            changes.append(Field(key: other.key, change: .inserted(other.value)))
            inserted.insert(other.key)
            right = new.next()
        }
        for key in removed where !inserted.contains(key) {
            changes.append(Field(key: key, change: .removed))
        }
    }

    private init(_ before: BSONArray, _ after: BSONArray, _ rules: Rules) {
        isArray = true
        let (old, new) = (before.values, after.values)
        for (index, value) in new.enumerated() {
            if index < old.count {
                compare(String(index), old[index], value, rules)
            } else {
                changes.append(Field(key: String(index), change: .updated(value)))
            }
        }
        if new.count < old.count { newSize = new.count }
    }

    private mutating func compare(
        _ key: String, _ before: BSONValue, _ after: BSONValue, _ rules: Rules
    ) {
        if before == after { return }
        let rules = rules.below(key, isArray: isArray)
        let inner: OplogDelta
        let byteCount: Int
        switch (before, after) {
        case (.document(let old), .document(let new)):
            inner = OplogDelta(old, new, rules)
            byteCount = new.byteCount
        case (.array(let old), .array(let new)):
            inner = OplogDelta(old, new, rules)
            byteCount = new.document.byteCount
        default:
            changes.append(Field(key: key, change: .updated(after)))
            return
        }
        let isWhole =
            rules.tellsWhole(before, after) || (rules.isBounded && inner.byteCount >= byteCount)
        changes.append(Field(key: key, change: isWhole ? .updated(after) : .inside(inner)))
    }

    /// How many bytes the difference has in the server's log.
    private var byteCount: Int {
        var sections: Set<Int> = []
        // An array's says that it is one.
        var count = 5 + (isArray ? 4 : 0) + (newSize == nil ? 0 : 7)
        for field in changes {
            let name = field.key.utf8.count + 2
            switch field.change {
            case .removed:
                sections.insert(0)
                count += name + 1
            case .updated(let value):
                if !isArray { sections.insert(1) }
                count += name + (isArray ? 1 : 0) + Self.byteCount(value)
            case .inserted(let value):
                sections.insert(2)
                count += name + Self.byteCount(value)
            case .inside(let inner): count += name + 1 + inner.byteCount
            }
        }
        return count + 8 * sections.count
    }

    private static func byteCount(_ value: BSONValue) -> Int {
        BSONDocument([("", value)]).byteCount - 7
    }
}

/// Says what happened to a field, or to an element.
indirect enum FieldChange {
    /// It is gone.
    case removed
    /// It has another value.
    case updated(BSONValue)
    /// It is new.
    case inserted(BSONValue)
    /// Something in it is different.
    case inside(OplogDelta)
}
