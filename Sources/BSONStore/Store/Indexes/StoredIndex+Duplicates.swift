extension StoredIndex {
    /// Returns the error for a document with a duplicate key.
    func duplicate(
        of document: BSONDocument, key: [UInt8], in namespace: Namespace
    ) -> StoreError {
        let values = BSONDocument(self.values(of: key, in: document))
        let collation = definition.collation.map { " collation: \(ShellText.text(of: $0))" } ?? ""
        let text = values.map { "\($0.key): \(ShellText.text(of: $0.value))" }
            .joined(separator: ", ")
        var error = StoreError(
            .duplicateKey,
            "E11000 duplicate key error collection: \(namespace) index: \(definition.name)"
                + "\(collation) dup key: { \(text) }",
            namespace: namespace, documentID: document["_id"])
        error.keyPattern = definition.keyPattern
        error.keyValue = values
        return error
    }

    /// Returns the values that a key was made from; for arrays, the member.
    private func values(
        of key: [UInt8], in document: BSONDocument
    ) -> [(String, BSONValue)] {
        var rest = key[...]
        return definition.keys.map { field in
            let parts = field.path.dottedParts
            var candidates: [BSONValue] = []
            Self.collect(parts[...], .document(document), into: &candidates)
            for value in candidates + [.null, .undefined] {
                var bytes = BSONKey.encode(collation?.key(value) ?? value)
                if field.kind == .descending { bytes = bytes.map { ~$0 } }
                guard rest.starts(with: bytes) else { continue }
                rest = rest.dropFirst(bytes.count)
                return (field.path, value)
            }
            return (field.path, document[path: field.path] ?? .null)
        }
    }

    /// Returns the values at a path, following arrays.
    private static func collect(
        _ path: ArraySlice<String>, _ value: BSONValue, into found: inout [BSONValue]
    ) {
        guard let part = path.first else {
            if case .array(let members) = value { found += members }
            return found.append(value)
        }
        if case .array(let members) = value {
            for member in members where member.documentValue != nil {
                collect(path, member, into: &found)
            }
            if let place = Int(part), place >= 0, let member = Array(members).dropFirst(place).first
            {
                collect(path.dropFirst(), member, into: &found)
            }
        } else if let next = value.documentValue?[part] {
            collect(path.dropFirst(), next, into: &found)
        }
    }
}
