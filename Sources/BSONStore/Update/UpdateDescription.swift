/// Says how one document became another: dotted paths that were set and paths that were removed.
///
/// Arrays are replaced whole; a nested document that stays a document is compared field by field.
/// Field order is no difference. Source: MongoDB change events, `updateDescription`.
public struct UpdateDescription: Sendable, Hashable {
    /// New values by dotted path.
    public var updatedFields: BSONDocument
    /// Dotted paths that are gone, in the order in which they stood.
    public var removedFields: [String]

    /// Makes a description of its parts.
    public init(updatedFields: BSONDocument = [:], removedFields: [String] = []) {
        self.updatedFields = updatedFields
        self.removedFields = removedFields
    }

    /// Whether nothing differs.
    public var isEmpty: Bool { updatedFields.isEmpty && removedFields.isEmpty }

    /// All paths that it touches.
    public var paths: [String] { updatedFields.keys + removedFields }
}

extension UpdateDescription {
    /// Compares two documents; `nil` when a dotted path cannot name the difference.
    ///
    /// A key that is empty, begins with `$` or holds a dot cannot stand in a path: below the top
    /// level its parent is set whole, at the top level there is no description and a replacement
    /// is due. `_id` and the excluded field are passed over at the top level only.
    /// O(n) in the size of both, quadratic in the number of fields that changed places.
    public static func difference(
        from before: BSONDocument, to after: BSONDocument, excluding field: String? = nil
    ) -> UpdateDescription? {
        var description = UpdateDescription()
        let excluded: Set<String> = field.map { ["_id", $0] } ?? ["_id"]
        let named = description.compare(before, after, prefix: "", excluded: excluded)
        return named ? description : nil
    }

    /// Carries the description out: sets and removes its paths; a missing parent is made.
    ///
    /// - Throws: ``BSONError/Code/pathNotViable`` when a path leads through a value without fields.
    public func apply(to document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = document
        for path in removedFields { _ = result.removeValue(atPath: path) }
        for (path, value) in updatedFields { try result.set(path: path, to: value) }
        return result
    }

    /// Collects differences below a prefix; `false` when a key there cannot stand in a path.
    private mutating func compare(
        _ before: BSONDocument, _ after: BSONDocument, prefix: String, excluded: Set<String>
    ) -> Bool {
        if before == after { return true }
        let later = FieldCursor(after)
        for (key, old) in before where !excluded.contains(key) {
            guard let new = later.value(of: key) else {
                guard Self.canStandInPath(key) else { return false }
                removedFields.append(prefix + key)
                continue
            }
            guard compare(old, new, key: key, prefix: prefix) else { return false }
        }
        let earlier = FieldCursor(before)
        for (key, new) in after where !excluded.contains(key) && earlier.value(of: key) == nil {
            guard Self.canStandInPath(key) else { return false }
            updatedFields.append(prefix + key, new)
        }
        return true
    }

    private mutating func compare(
        _ old: BSONValue, _ new: BSONValue, key: String, prefix: String
    ) -> Bool {
        if old == new { return true }
        guard Self.canStandInPath(key) else { return old.contentEquals(new) }
        if case .document(let before) = old, case .document(let after) = new {
            let mark = self
            if compare(before, after, prefix: prefix + key + ".", excluded: []) { return true }
            self = mark
        } else if old.contentEquals(new) {
            return true
        }
        updatedFields.append(prefix + key, new)
        return true
    }

    private static func canStandInPath(_ key: String) -> Bool {
        !key.isEmpty && !key.utf8.contains(UInt8(ascii: ".")) && key.utf8.first != UInt8(ascii: "$")
    }
}

/// Looks fields up in a document that is usually walked in the same order.
private final class FieldCursor {
    private let document: BSONDocument
    private var iterator: BSONDocument.Iterator

    init(_ document: BSONDocument) {
        self.document = document
        iterator = document.makeIterator()
    }

    func value(of key: String) -> BSONValue? {
        if let next = iterator.next(), next.key == key { return next.value }
        iterator = document.makeIterator()
        while let next = iterator.next() {
            if next.key == key { return next.value }
        }
        iterator = document.makeIterator()
        return nil
    }
}
