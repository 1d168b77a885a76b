/// A comparison of two documents that collects their differences.
struct UpdateComparison {
    private let splitsArrays: Bool
    private var updated: [(String, BSONValue)] = []
    private var removed: [String] = []
    private var truncated: [UpdateDescription.TruncatedArray] = []
    /// The approximate number of bytes of the differences.
    private var byteCount = 0

    init(splitsArrays: Bool) { self.splitsArrays = splitsArrays }

    /// The differences that were found.
    var description: UpdateDescription {
        UpdateDescription(
            updatedFields: BSONDocument(updated), removedFields: removed,
            truncatedArrays: truncated)
    }

    /// Collects differences below a prefix; returns `false` if a key there cannot occur in a path.
    mutating func compare(
        _ before: BSONDocument, _ after: BSONDocument, prefix: String, excluded: IgnoredKeys
    ) -> Bool {
        if let named = compareInOrder(before, after, prefix: prefix, excluded: excluded) {
            return named
        }
        let later = IndexedDocument(after)
        for (key, old) in before where !excluded.contains(key) {
            guard let new = later[key] else {
                guard Self.canStandInPath(key) else { return false }
                remove(prefix + key)
                continue
            }
            guard compare(old, new, key: key, prefix: prefix) else { return false }
        }
        let earlier = IndexedDocument(before)
        for (key, new) in after where !excluded.contains(key) && earlier[key] == nil {
            guard Self.canStandInPath(key) else { return false }
            update(prefix + key, new)
        }
        return true
    }

    /// Compares documents whose fields are in the same order, except for new ones at the end; `nil`
    /// if they are not.
    ///
    /// Only fields that differ are decoded.
    private mutating func compareInOrder(
        _ before: BSONDocument, _ after: BSONDocument, prefix: String, excluded: IgnoredKeys
    ) -> Bool? {
        before.withUnsafeBytes { old in
            after.withUnsafeBytes { new in
                guard let oldBase = old.baseAddress, let newBase = new.baseAddress else {
                    return true
                }
                var (earlier, later) = (BSONCursor(old), BSONCursor(new))
                var differing: [(old: BSONRawElement, new: BSONRawElement)] = []
                while let a = earlier.next() {
                    _ = WorkBudget.isOver()
                    if later.skip(sameAs: a) { continue }
                    guard let b = later.next(), a.key.count == b.key.count,
                        BSONCursor.isEqual(a.key, b.key)
                    else { return nil }
                    differing.append((a, b))
                }
                for (a, b) in differing {
                    let key = String(validUTF8: a.key)
                    if excluded.contains(key) { continue }
                    let named = compare(
                        BSONValue(a.value, sharing: before, at: oldBase),
                        BSONValue(b.value, sharing: after, at: newBase), key: key,
                        prefix: prefix)
                    if !named { return false }
                }
                let known = IndexedDocument(before)
                while let b = later.next() {
                    let key = String(validUTF8: b.key)
                    if excluded.contains(key) || known[key] != nil { continue }
                    guard Self.canStandInPath(key) else { return false }
                    update(prefix + key, BSONValue(b.value, sharing: after, at: newBase))
                }
                return true
            }
        }
    }

    private mutating func compare(
        _ old: BSONValue, _ new: BSONValue, key: String, prefix: String
    ) -> Bool {
        if old == new { return true }
        guard Self.canStandInPath(key) else { return old.contentEquals(new) }
        let path = prefix + key
        let mark = mark
        switch (old, new) {
        case (.document(let before), .document(let after)):
            if compare(before, after, prefix: path + ".", excluded: .nothing) { return true }
        case (.array(let before), .array(let after)) where splitsArrays:
            let elements = compare(before, after, path: path)
            let isShorter = byteCount - mark.byteCount < after.document.byteCount
            if elements, isShorter { return true }
        default: if old.contentEquals(new) { return true }
        }
        goBack(to: mark)
        // A difference in the order of fields alone is ignored, in arrays too.
        if !old.contentEquals(new) { update(path, new) }
        return true
    }

    private mutating func compare(
        _ before: BSONArray, _ after: BSONArray, path: String
    ) -> Bool {
        let (old, new) = (before.values, after.values)
        if new.count < old.count {
            truncated.append(
                UpdateDescription.TruncatedArray(field: path, newSize: new.count))
            byteCount += path.utf8.count + 16
        }
        for (index, value) in new.enumerated() {
            _ = WorkBudget.isOver()
            if index < old.count {
                let key = String(index)
                guard compare(old[index], value, key: key, prefix: path + ".") else {
                    return false
                }
            } else {
                update("\(path).\(index)", value)
            }
        }
        return true
    }

    private mutating func update(_ path: String, _ value: BSONValue) {
        updated.append((path, value))
        byteCount += path.utf8.count + 2 + BSONWriter.count(value)
    }

    private mutating func remove(_ path: String) {
        removed.append(path)
        byteCount += path.utf8.count + 8
    }

    /// The differences up to a point, by their numbers.
    private struct Mark {
        let updated: Int
        let removed: Int
        let truncated: Int
        let byteCount: Int
    }

    private var mark: Mark {
        Mark(
            updated: updated.count, removed: removed.count, truncated: truncated.count,
            byteCount: byteCount)
    }

    /// Forgets the differences that were found since.
    private mutating func goBack(to mark: Mark) {
        updated.removeLast(updated.count - mark.updated)
        removed.removeLast(removed.count - mark.removed)
        truncated.removeLast(truncated.count - mark.truncated)
        byteCount = mark.byteCount
    }

    private static func canStandInPath(_ key: String) -> Bool {
        !key.isEmpty && !key.utf8.contains(UInt8(ascii: ".")) && key.utf8.first != UInt8(ascii: "$")
    }
}

/// The keys to ignore at a level.
struct IgnoredKeys {
    /// No key: below the top level every key counts.
    static let nothing = IgnoredKeys(isTop: false, field: nil)

    private let isTop: Bool
    private let field: String?

    private init(isTop: Bool, field: String?) {
        self.isTop = isTop
        self.field = field
    }

    /// Returns `_id` and one more field.
    static func atTop(_ field: String?) -> Self { IgnoredKeys(isTop: true, field: field) }

    func contains(_ key: String) -> Bool { isTop && (key == "_id" || field.hasSameBytes(as: key)) }
}
