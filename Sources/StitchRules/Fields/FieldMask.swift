public import BSONStore

/// The permissions to read and write the fields of a document.
///
/// A writable field is readable. `_id` and the sync engine's version are always readable: no
/// document can be synced without them.
public struct FieldMask: Sendable, Hashable {
    /// The fields that are always readable.
    static let alwaysShown: Set<String> = ["_id", SyncVersion.field]

    let root: FieldNode
    /// Whether no field is hidden.
    public let showsEverything: Bool
    private let sieve: FieldMaskCopier

    /// Makes a mask from the permissions of a document's fields.
    init(_ root: FieldNode) {
        var children = root.children
        for name in Self.alwaysShown { children[name] = .leaf(.readAndWrite) }
        let whole = FieldNode.branch(children, others: root.others)
        self.root = whole
        showsEverything = whole.readsEverything
        sieve = FieldMaskCopier(whole)
    }

    /// Whether both have the same permissions.
    public static func == (left: Self, right: Self) -> Bool { left.root == right.root }

    /// Hashes the permissions.
    public func hash(into hasher: inout Hasher) { hasher.combine(root) }

    /// Whether every field is writable.
    public var writesEverything: Bool { root.writesEverything }

    /// Returns the document without its hidden fields; O(n) in its bytes.
    public func shown(_ document: BSONDocument) -> BSONDocument {
        showsEverything ? document : sieve.shown(document)
    }

    /// Returns the document without its hidden fields, and whether the result certainly differs
    /// from that of a document with a number of equal leading bytes.
    func shown(
        _ document: BSONDocument, behind sharedCount: Int
    ) -> (document: BSONDocument, isNews: Bool) {
        sieve.shown(document, behind: sharedCount)
    }

    /// Whether two documents have equal visible fields.
    func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        showsEverything ? one == other : sieve.isAlike(one, other)
    }

    /// Whether a dotted path can lead to a hidden value.
    ///
    /// A number in a path can be an array position or a field name: both are considered.
    public func hides(path: String) -> Bool {
        root.hides(path.dottedParts[...])
    }

    /// Returns the paths that differ but are not writable, in the order of the documents.
    ///
    /// - Parameters:
    ///   - before: the document without its hidden fields; empty for a new one.
    ///   - after: the document as the writer wants it, without its hidden fields.
    public func deniedChanges(from before: BSONDocument, to after: BSONDocument) -> [String] {
        root.deniedChanges(from: before, to: after, "")
    }
}

/// The permission of a field.
struct FieldPermission: Sendable, Hashable {
    let reads: Bool
    let writes: Bool

    static let none = FieldPermission(reads: false, writes: false)
    static let read = FieldPermission(reads: true, writes: false)
    static let readAndWrite = FieldPermission(reads: true, writes: true)

    /// Resolves optional permissions: a writable field is readable, and an unspecified permission
    /// is denied.
    init(read: Bool?, write: Bool?) {
        self.init(reads: read == true || write == true, writes: write == true)
    }

    private init(reads: Bool, writes: Bool) {
        self.reads = reads
        self.writes = writes
    }
}

/// The permission of a field and of the fields inside it.
indirect enum FieldNode: Sendable, Hashable {
    /// One permission for everything in the field.
    case leaf(FieldPermission)
    /// Separate permissions for the fields of a document; values of other types have that of the
    /// others.
    case branch([Name: FieldNode], others: FieldPermission)

    /// The permission of unnamed fields.
    var others: FieldPermission {
        switch self {
        case .leaf(let permission): permission
        case .branch(_, let others): others
        }
    }

    /// The named fields.
    var children: [Name: FieldNode] {
        switch self {
        case .leaf: [:]
        case .branch(let children, _): children
        }
    }

    /// Returns the permission of a field of a document.
    func child(_ name: String) -> FieldNode { children[name] ?? .leaf(others) }

    var readsEverything: Bool { others.reads && children.values.allSatisfy(\.readsEverything) }
    var writesEverything: Bool { others.writes && children.values.allSatisfy(\.writesEverything) }

    /// Whether a path can lead to a hidden value.
    func hides(_ path: ArraySlice<String>) -> Bool {
        guard let first = path.first else { return !readsEverything }
        switch self {
        case .leaf(let permission): return !permission.reads
        case .branch:
            if child(first).hides(path.dropFirst()) { return true }
            // A position in an array of documents leads to the same fields.
            return Int(first) != nil && hides(path.dropFirst())
        }
    }
}

extension FieldNode {
    /// Returns the document without its hidden fields, value by value; ``FieldMaskCopier`` does the
    /// same with bytes.
    func shown(_ document: BSONDocument) -> BSONDocument {
        var shown = BSONDocument()
        for (key, value) in document {
            if let value = child(key).shown(value) { shown.append(key, value) }
        }
        return shown
    }

    /// Returns the value without its hidden fields; `nil` when nothing is visible.
    private func shown(_ value: BSONValue) -> BSONValue? {
        switch self {
        case .leaf(let permission): return permission.reads ? .some(value) : .none
        case .branch:
            if let document = value.documentValue { return .document(shown(document)) }
            guard case .array(let array) = value else { return others.reads ? .some(value) : .none }
            return .array(BSONArray(array.compactMap { shown($0) }))
        }
    }

    /// Returns the paths that differ but are not writable.
    func deniedChanges(
        from before: BSONDocument, to after: BSONDocument, _ prefix: String
    ) -> [String] {
        var denied: [String] = []
        let (before, after) = (IndexedDocument(before), IndexedDocument(after))
        let added = after.document.keys.filter { before[$0] == nil }
        for key in before.document.keys + added {
            _ = WorkBudget.isOver()
            let (old, new) = (before[key], after[key])
            guard !Self.isSame(old, new) else { continue }
            denied += child(key).deniedChange(from: old, to: new, prefix + key)
        }
        return denied
    }

    private func deniedChange(
        from old: BSONValue?, to new: BSONValue?, _ path: String
    ) -> [String] {
        switch self {
        case .leaf(let permission): return permission.writes ? [] : [path]
        case .branch:
            // Removing the field or changing its type writes all of it.
            guard !writesEverything else { return [] }
            guard let new = new?.documentValue, old == nil || old?.documentValue != nil else {
                return [path]
            }
            return deniedChanges(from: old?.documentValue ?? [:], to: new, path + ".")
        }
    }

    private static func isSame(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): BSONDocument([("", left)]) == BSONDocument([("", right)])
        case (nil, _?), (_?, nil): false
        }
    }
}
