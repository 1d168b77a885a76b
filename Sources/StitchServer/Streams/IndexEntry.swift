internal import BSONStore

/// The entry of an index in `listIndexes`, with MongoDB's additions for special kinds.
enum IndexEntry {
    /// Returns the entry of an index.
    static func document(_ index: IndexDefinition) -> BSONDocument { document(index.document) }

    /// Returns the entry of a stored index definition.
    static func document(_ definition: BSONDocument) -> BSONDocument {
        var entry = definition
        let pattern = definition["key"]?.documentValue ?? [:]
        let kinds = pattern.compactMap(\.value.stringValue)
        if kinds.contains("text") { addText(to: &entry, pattern) }
        if kinds.contains("2dsphere"), entry["2dsphereIndexVersion"] == nil {
            entry.append("2dsphereIndexVersion", 3)
        }
        return entry
    }

    /// Adds the weights of a text index, and MongoDB's two artificial keys.
    private static func addText(to entry: inout BSONDocument, _ pattern: BSONDocument) {
        var keys = BSONDocument()
        var weights = entry["weights"]?.documentValue ?? BSONDocument()
        for (path, kind) in pattern {
            guard kind.stringValue == "text" else {
                if path != "_ftsx" { keys.append(path, kind) }
                continue
            }
            if path != "_fts", weights[path] == nil { weights.append(path, 1) }
            guard keys["_fts"] == nil else { continue }
            keys.append("_fts", "text")
            keys.append("_ftsx", 1)
        }
        entry.set("key", to: .document(keys))
        entry.set(
            "weights",
            to: .document(
                BSONDocument(
                    weights.sorted { $0.key.bytesPrecede($1.key) }.map { ($0.key, $0.value) })))
        for (option, value) in [
            ("default_language", "english"), ("language_override", "language"),
            ("textIndexVersion", 3),
        ] as [(String, BSONValue)] where entry[option] == nil {
            entry.append(option, value)
        }
    }
}
