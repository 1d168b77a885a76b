import BSONStore

/// A merge of two versions of a document, field by field, based on each side's changes.
///
/// A field changed on one side keeps that change. If both sides changed it, embedded documents are
/// merged recursively, numbers get both differences, arrays and strings get both additions;
/// otherwise the remote's value stays. A removal loses against a change.
enum FieldMerge {
    /// Returns the merged document: the remote's fields in order, then those only local has.
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

    /// Returns the remote's string with local's addition at the end; only the remote's if local
    /// rewrote it.
    private static func additions(_ base: String?, _ local: String, _ remote: String) -> String {
        guard let base, local.hasBytePrefix(base) else { return remote }
        return remote + local.droppingBytes(base.utf8.count)
    }

    /// Returns the remote's values with those that local appended; only the remote's if local
    /// rewrote them.
    private static func additions(
        _ base: BSONArray?, _ local: BSONArray, _ remote: BSONArray
    ) -> BSONArray {
        let before = base?.values ?? []
        let values = local.values
        guard values.starts(with: before) else { return remote }
        return BSONArray(remote.values + values.dropFirst(before.count))
    }
}
