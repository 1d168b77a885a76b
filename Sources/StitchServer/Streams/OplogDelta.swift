internal import BSONStore

/// The difference between two versions of a document, in the form of MongoDB's oplog.
///
/// Fields are compared in order, values by their bytes. A value that an operator wrote as a whole
/// is reported as a whole; the result of a pipeline is reported by its parts where that is shorter.
///
/// Source: the server's `document_diff_calculator.cpp`.
struct OplogDelta {
    /// Whether the difference is of an array.
    let isArray: Bool
    /// The changes by field or array index.
    private(set) var changes: [Field] = []
    /// The new size of an array that became shorter.
    private(set) var newSize: Int?

    /// The change of one field or array element.
    struct Field {
        let key: String
        let change: FieldChange
    }

    /// Compares the documents of an update; `nil` if the update is reported as a replacement.
    init?(_ change: StoreChange) {
        guard let before = change.before, let after = change.after else { return nil }
        let isByPipeline = change[.isByPipeline] != nil
        let rules = Rules(
            isBounded: isByPipeline, whole: Self.paths(change[.writtenPaths]),
            pushed: Self.paths(change[.pushedPaths]))
        self.init(before, after, rules)
        // The oplog entry adds 15 bytes to the difference.
        guard !isByPipeline || byteCount + 15 < after.byteCount else { return nil }
    }

    private static func paths(_ value: BSONValue?) -> [ArraySlice<String>] {
        guard case .array(let array)? = value else { return [] }
        return array.values.compactMap { path in
            path.stringValue.map { $0.dottedParts[...] }
        }
    }

    /// The facts about an update that concern one path and its subpaths.
    private struct Rules {
        /// Whether a difference larger than the value is reported as the value.
        let isBounded: Bool
        /// The paths whose values were written as a whole.
        let whole: [ArraySlice<String>]
        /// The paths of arrays that received elements by `$push`.
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
                guard let first = path.first,
                    first.hasSameBytes(as: key) || (isArray && first.hasBytePrefix("$"))
                else { return nil }
                return path.dropFirst()
            }
        }

        /// Whether to report a value as a whole at this path.
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
            if one.key.hasSameBytes(as: other.key) {
                compare(one.key, one.value, other.value, rules)
                right = new.next()
            } else {
                // The field was removed, or moved towards the end.
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

    /// The size of the difference in the oplog, in bytes.
    private var byteCount: Int {
        var sections: Set<Int> = []
        // The difference of an array has a marker.
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

/// The change of a field or element.
indirect enum FieldChange {
    /// The field was removed.
    case removed
    /// The field has a new value.
    case updated(BSONValue)
    /// The field was added.
    case inserted(BSONValue)
    /// The field's value changed inside.
    case inside(OplogDelta)
}
