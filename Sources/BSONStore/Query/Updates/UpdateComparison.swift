/// A comparison of two documents that collects their differences.
struct UpdateComparison {
    private(set) var description = UpdateDescription()
    private let splitsArrays: Bool

    init(splitsArrays: Bool) { self.splitsArrays = splitsArrays }

    /// Collects differences below a prefix; returns `false` if a key there cannot occur in a path.
    mutating func compare(
        _ before: BSONDocument, _ after: BSONDocument, prefix: String, excluded: IgnoredKeys
    ) -> Bool {
        if before == after { return true }
        let mark = description
        if let named = compareInOrder(before, after, prefix: prefix, excluded: excluded) {
            return named
        }
        description = mark
        let later = BSONFieldIndex(after)
        for (key, old) in before where !excluded.contains(key) {
            guard let new = later[key] else {
                guard Self.canStandInPath(key) else { return false }
                description.removedFields.append(prefix + key)
                continue
            }
            guard compare(old, new, key: key, prefix: prefix) else { return false }
        }
        let earlier = BSONFieldIndex(before)
        for (key, new) in after where !excluded.contains(key) && earlier[key] == nil {
            guard Self.canStandInPath(key) else { return false }
            description.updatedFields.append(prefix + key, new)
        }
        return true
    }

    /// Compares documents whose fields are in the same order, except for new ones at the end; `nil`
    /// for others.
    ///
    /// Only fields that differ are decoded.
    private mutating func compareInOrder(
        _ before: BSONDocument, _ after: BSONDocument, prefix: String, excluded: IgnoredKeys
    ) -> Bool? {
        before.withUnsafeBytes { old in
            after.withUnsafeBytes { new in
                guard let oldBase = old.baseAddress, let newBase = new.baseAddress else {
                    return nil
                }
                var (earlier, later) = (BSONCursor(old), BSONCursor(new))
                while let a = earlier.next() {
                    if later.skip(sameAs: a) { continue }
                    guard let b = later.next(), b.key.count == a.key.count,
                        BSONCursor.isEqual(a.key, b.key)
                    else { return nil }
                    let key = String(validUTF8: a.key)
                    if excluded.contains(key) { continue }
                    let named = compare(
                        BSONValue(a.value, sharing: before, at: oldBase),
                        BSONValue(b.value, sharing: after, at: newBase), key: key,
                        prefix: prefix)
                    if !named { return false }
                }
                var known: BSONFieldIndex?
                while let b = later.next() {
                    let key = String(validUTF8: b.key)
                    if excluded.contains(key) { continue }
                    let fields = known ?? BSONFieldIndex(before)
                    known = fields
                    if fields[key] != nil { continue }
                    guard Self.canStandInPath(key) else { return false }
                    description.updatedFields.append(
                        prefix + key, BSONValue(b.value, sharing: after, at: newBase))
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
        let mark = description
        switch (old, new) {
        case (.document(let before), .document(let after)):
            if compare(before, after, prefix: path + ".", excluded: .nothing) { return true }
        case (.array(let before), .array(let after)) where splitsArrays:
            let elements = compare(before, after, path: path)
            let isShorter = description.byteCount - mark.byteCount < after.document.byteCount
            if elements, isShorter { return true }
        default: if old.contentEquals(new) { return true }
        }
        description = mark
        // A difference in the order of fields alone is ignored, in arrays too.
        if !old.contentEquals(new) { description.updatedFields.append(path, new) }
        return true
    }

    private mutating func compare(
        _ before: BSONArray, _ after: BSONArray, path: String
    ) -> Bool {
        let (old, new) = (before.values, after.values)
        if new.count < old.count {
            description.truncatedArrays.append(
                UpdateDescription.TruncatedArray(field: path, newSize: new.count))
        }
        for (index, value) in new.enumerated() {
            if index < old.count {
                let key = String(index)
                guard compare(old[index], value, key: key, prefix: path + ".") else {
                    return false
                }
            } else {
                description.updatedFields.append("\(path).\(index)", value)
            }
        }
        return true
    }

    private static func canStandInPath(_ key: String) -> Bool {
        !key.isEmpty && !key.utf8.contains(UInt8(ascii: ".")) && key.utf8.first != UInt8(ascii: "$")
    }
}

extension UpdateDescription {
    /// The approximate number of bytes of the description.
    fileprivate var byteCount: Int {
        updatedFields.byteCount + removedFields.reduce(0) { $0 + $1.utf8.count + 8 }
            + truncatedArrays.reduce(0) { $0 + $1.field.utf8.count + 16 }
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

    func contains(_ key: String) -> Bool { isTop && (key == "_id" || key == field) }
}
