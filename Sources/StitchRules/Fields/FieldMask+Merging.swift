public import BSONStore

extension FieldMask {
    /// Merges a change of a document's visible fields into the stored document.
    ///
    /// Hidden fields stay, after the same fields as before: the visible part of the result is
    /// `after`, the hidden part is that of `before`.
    ///
    /// - Returns: `nil` when the change would replace something hidden.
    public func merged(_ after: BSONDocument, into before: BSONDocument) -> BSONDocument? {
        showsEverything ? after : root.merged(after, into: before)
    }
}

extension FieldNode {
    fileprivate func merged(_ after: BSONDocument, into before: BSONDocument) -> BSONDocument? {
        let (earlier, later) = (IndexedDocument(before), IndexedDocument(after))
        var hidden: [Name?: [(String, BSONValue)]] = [:]
        var anchor: Name?
        for (key, value) in before {
            _ = WorkBudget.isOver()
            if child(key).isHidden(value) {
                guard later[key] == nil else { return nil }
                hidden[anchor, default: []].append((key, value))
            } else if later[key] != nil {
                anchor = Name(key)
            } else if child(key).holdsHidden(value) {
                return nil
            }
        }
        var merged = BSONDocument()
        for (key, value) in hidden[nil] ?? [] { merged.append(key, value) }
        for (key, value) in after {
            _ = WorkBudget.isOver()
            guard let value = child(key).merged(value, into: earlier[key]) else { return nil }
            merged.append(key, value)
            for (key, value) in hidden[Name(key)] ?? [] { merged.append(key, value) }
        }
        return merged
    }

    private func merged(_ after: BSONValue, into before: BSONValue?) -> BSONValue? {
        guard let before, holdsHidden(before) else { return after }
        if let after = after.documentValue, let before = before.documentValue {
            return merged(after, into: before).map(BSONValue.document)
        }
        // An array can only stay unchanged.
        return shownArray(before) == after.arrayValue ? .some(before) : .none
    }

    private func shownArray(_ value: BSONValue) -> BSONArray? {
        guard case .array = value else { return nil }
        return FieldNode.branch(["": self], others: .none).shown(["": value])[""]?.arrayValue
    }

    /// Whether nothing of a value is visible.
    private func isHidden(_ value: BSONValue) -> Bool {
        switch self {
        case .leaf(let permission): !permission.reads
        case .branch:
            switch value {
            case .document, .array: false
            default: !others.reads
            }
        }
    }

    /// Whether some part of a value is hidden.
    private func holdsHidden(_ value: BSONValue) -> Bool {
        if isHidden(value) { return true }
        switch self {
        case .leaf: return false
        case .branch:
            if let document = value.documentValue {
                return document.contains { child($0.key).holdsHidden($0.value) }
            }
            return (value.arrayValue ?? []).contains { holdsHidden($0) }
        }
    }
}
