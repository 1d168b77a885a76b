/// New values and removals of many dotted paths, applied to a document in one pass.
///
/// It knows documents only: a change within an array, or below a value that has no fields, is
/// refused, and so are paths of which one begins with another.
struct PathChanges {
    private enum Change {
        case set(BSONValue)
        case remove
        case within(PathChanges)
    }

    private var changes: [Name: Change] = [:]
    /// The names in the order in which they were added.
    private var names: [Name] = []

    /// Sorts a description by the fields on its paths; `nil` if it is refused.
    init?(_ description: UpdateDescription) {
        guard description.truncatedArrays.isEmpty else { return nil }
        for path in description.removedFields {
            guard add(.remove, at: Self.parts(of: path)) else { return nil }
        }
        for (path, value) in description.updatedFields {
            guard add(.set(value), at: Self.parts(of: path)) else { return nil }
        }
    }

    private init() {}

    private static func parts(of path: String) -> ArraySlice<String> {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    }

    private mutating func add(_ change: Change, at parts: ArraySlice<String>) -> Bool {
        guard let first = parts.first.map({ Name($0) }) else { return false }
        guard parts.count > 1 else {
            guard changes.updateValue(change, forKey: first) == nil else { return false }
            names.append(first)
            return true
        }
        var inner = PathChanges()
        switch changes[first] {
        case .within(let known): inner = known
        case .set, .remove: return false
        case nil: names.append(first)
        }
        // Only one owner of the inner table, so that it is changed in place.
        changes[first] = nil
        guard inner.add(change, at: parts.dropFirst()) else { return false }
        changes[first] = .within(inner)
        return true
    }

    /// Returns the changed document; `nil` if it is refused.
    func apply(to document: BSONDocument) -> BSONDocument? {
        var result = BSONDocument()
        var met: Set<Name> = []
        for (key, value) in document {
            let name = Name(key)
            guard let change = changes[name], met.insert(name).inserted else {
                result.append(key, value)
                continue
            }
            switch change {
            case .remove: continue
            case .set(let new): result.append(key, new)
            case .within(let inner):
                guard let old = value.documentValue, let new = inner.apply(to: old) else {
                    return nil
                }
                result.append(key, .document(new))
            }
        }
        for name in names where !met.contains(name) {
            guard let change = changes[name] else { continue }
            switch change {
            case .remove: continue
            case .set(let new): result.append(name.text, new)
            case .within(let inner):
                guard inner.setsSomething else { continue }
                guard let new = inner.apply(to: [:]) else { return nil }
                result.append(name.text, .document(new))
            }
        }
        return result
    }

    /// Whether a value is set at any depth, so that missing documents on the way are made.
    private var setsSomething: Bool {
        changes.values.contains { change in
            switch change {
            case .set: true
            case .remove: false
            case .within(let inner): inner.setsSomething
            }
        }
    }
}
