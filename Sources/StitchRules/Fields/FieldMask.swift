public import BSONStore

/// Says which fields of documents may be read and which may be written.
///
/// A field that may be written may be read. `_id` and the version of the sync engine are always
/// there: without them no document can be kept in step.
public struct FieldMask: Sendable, Hashable {
    /// The fields that no mask hides.
    static let alwaysShown: Set<String> = ["_id", "__stitch_sync_version"]

    let root: FieldNode
    /// Whether no field is hidden.
    public let showsEverything: Bool
    private let sieve: FieldMaskCopier

    /// Takes the permissions of the fields of a document.
    init(_ root: FieldNode) {
        var children = root.children
        for name in Self.alwaysShown { children[name] = .leaf(.readAndWrite) }
        let whole = FieldNode.branch(children, others: root.others)
        self.root = whole
        showsEverything = whole.readsEverything
        sieve = FieldMaskCopier(whole)
    }

    /// Whether both let the same be read and written.
    public static func == (left: Self, right: Self) -> Bool { left.root == right.root }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) { hasher.combine(root) }

    /// Whether each field may be written.
    public var writesEverything: Bool { root.writesEverything }

    /// Returns the document without what is hidden; O(n) in its bytes.
    public func shown(_ document: BSONDocument) -> BSONDocument {
        showsEverything ? document : sieve.shown(document)
    }

    /// Returns the document without what is hidden, and whether that surely is something else than
    /// what is shown of one that begins with so many equal bytes.
    func shown(
        _ document: BSONDocument, behind sharedCount: Int
    ) -> (document: BSONDocument, isNews: Bool) {
        sieve.shown(document, behind: sharedCount)
    }

    /// Whether two documents show the same.
    func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        showsEverything ? one == other : sieve.isAlike(one, other)
    }

    /// Whether a dotted path can lead to something that is hidden.
    ///
    /// Numbers in a path are places in arrays, or names of fields: both are looked at.
    public func hides(path: String) -> Bool {
        root.hides(path.dottedParts[...])
    }

    /// Returns the paths that differ although they must not be written, in the order of the
    /// documents.
    ///
    /// - Parameters:
    ///   - before: the document as it was shown, empty for a new one.
    ///   - after: the document as the writer wants it shown.
    public func deniedChanges(from before: BSONDocument, to after: BSONDocument) -> [String] {
        root.deniedChanges(from: before, to: after, "")
    }
}

/// Is the permission of a field.
struct FieldPermission: Sendable, Hashable {
    let reads: Bool
    let writes: Bool

    static let none = FieldPermission(reads: false, writes: false)
    static let read = FieldPermission(reads: true, writes: false)
    static let readAndWrite = FieldPermission(reads: true, writes: true)

    /// Resolves what was said: what may be written may be read, what was not said is denied.
    init(read: Bool?, write: Bool?) {
        self.init(reads: read == true || write == true, writes: write == true)
    }

    private init(reads: Bool, writes: Bool) {
        self.reads = reads
        self.writes = writes
    }
}

/// Is the permission of a field and of what is in it.
indirect enum FieldNode: Sendable, Hashable {
    /// Everything in the field has one permission.
    case leaf(FieldPermission)
    /// The fields of a document have their own; values that are no documents are like the others.
    case branch([Name: FieldNode], others: FieldPermission)

    /// The permission of what is not named.
    var others: FieldPermission {
        switch self {
        case .leaf(let permission): permission
        case .branch(_, let others): others
        }
    }

    /// The fields that are named.
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

    /// Whether a path can lead to something hidden.
    func hides(_ path: ArraySlice<String>) -> Bool {
        guard let first = path.first else { return !readsEverything }
        switch self {
        case .leaf(let permission): return !permission.reads
        case .branch:
            if child(first).hides(path.dropFirst()) { return true }
            // A place in an array of documents leads to the same fields.
            return Int(first) != nil && hides(path.dropFirst())
        }
    }
}

extension FieldNode {
    /// Returns the document without what is hidden, value by value, as ``FieldMaskCopier`` does
    /// with bytes.
    func shown(_ document: BSONDocument) -> BSONDocument {
        var shown = BSONDocument()
        for (key, value) in document {
            if let value = child(key).shown(value) { shown.append(key, value) }
        }
        return shown
    }

    /// Returns the value without what is hidden; `nil` where nothing of it is shown.
    private func shown(_ value: BSONValue) -> BSONValue? {
        switch self {
        case .leaf(let permission): return permission.reads ? .some(value) : .none
        case .branch:
            if let document = value.documentValue { return .document(shown(document)) }
            guard case .array(let array) = value else { return others.reads ? .some(value) : .none }
            var shownArray = BSONArray()
            for element in array {
                if let element = shown(element) { shownArray.append(element) }
            }
            return .array(shownArray)
        }
    }

    /// Returns the paths that differ although they must not be written.
    func deniedChanges(
        from before: BSONDocument, to after: BSONDocument, _ prefix: String
    ) -> [String] {
        var denied: [String] = []
        let added = after.keys.filter { !before.contains(key: $0) }
        for key in before.keys + added {
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
            // What takes the whole field away or turns it into something else writes all of it.
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
