import BSONStore

/// Merges two versions of a document field by field, by what each did to their common base.
///
/// A field that one side changed keeps that change. Where both changed it, documents are merged field by
/// field, numbers get both differences, arrays and texts get both additions; of anything else the
/// remote's value stays. A removal loses against a change.
enum FieldMerge {
    /// The merged document: the remote's fields in its order, then those that only local has.
    static func merge(
        base: BSONDocument?, local: BSONDocument, remote: BSONDocument
    ) -> BSONDocument {
        var merged = BSONDocument()
        let added = local.keys.filter { remote[$0] == nil }
        for key in remote.keys + added {
            let value = merge(base: base?[key], local: local[key], remote: remote[key])
            if let value { merged.append(key, value) }
        }
        return merged
    }

    private static func merge(
        base: BSONValue?, local: BSONValue?, remote: BSONValue?
    ) -> BSONValue? {
        if local == remote || local == base { return remote }
        if remote == base { return local }
        guard let local, let remote else { return local ?? remote }
        return bothChanged(base: base, local: local, remote: remote)
    }

    private static func bothChanged(
        base: BSONValue?, local: BSONValue, remote: BSONValue
    ) -> BSONValue {
        switch (local, remote) {
        case (.double(let local), .double(let remote)):
            guard case .double(let base) = base else { return .double(remote) }
            return .double(remote + (local - base))
        case (.string(let local), .string(let remote)):
            return .string(additions(base?.stringValue, local, remote))
        case (.document(let local), .document(let remote)):
            return .document(merge(base: base?.documentValue, local: local, remote: remote))
        case (.array(let local), .array(let remote)):
            return .array(additions(base?.arrayValue, local, remote))
        case (.int32(let local), .int32(let remote)):
            guard case .int32(let base) = base else { return .int32(remote) }
            return .int32(remote &+ (local &- base))
        case (.int64(let local), .int64(let remote)):
            guard case .int64(let base) = base else { return .int64(remote) }
            return .int64(remote &+ (local &- base))
        default: return remote
        }
    }

    /// The remote's text with what local added at the end; the remote's alone when local rewrote it.
    private static func additions(_ base: String?, _ local: String, _ remote: String) -> String {
        guard let base, local.hasPrefix(base) else { return remote }
        return remote + local.dropFirst(base.count)
    }

    /// The remote's values with those that local appended; the remote's alone when local rewrote them.
    private static func additions(
        _ base: BSONArray?, _ local: BSONArray, _ remote: BSONArray
    ) -> BSONArray {
        let before = base?.values ?? []
        let values = local.values
        guard values.starts(with: before) else { return remote }
        return BSONArray(remote.values + values.dropFirst(before.count))
    }
}
