import BSONStore

/// The comparison of two documents by field and type; the order of fields does not matter.
///
/// The demo compares by itself, so that its check does not depend on the engine.
enum DocumentDifference {
    /// Returns a sentence about the first difference, or `nil`; some top-level fields may be
    /// ignored.
    static func first(
        _ a: BSONDocument, _ b: BSONDocument, ignoring ignored: Set<String> = []
    ) -> String? {
        first(a, b, ignoring: ignored, path: "")
    }

    private static func first(
        _ a: BSONDocument, _ b: BSONDocument, ignoring ignored: Set<String>, path: String
    ) -> String? {
        var others = Dictionary(b.map { ($0.key, $0.value) }) { first, _ in first }
        for (key, value) in a where !ignored.contains(key) {
            guard let other = others.removeValue(forKey: key) else {
                return "\(path)\(key) is missing on one side"
            }
            if let found = first(value, other, path: path + key) { return found }
        }
        let left = others.keys.filter { !ignored.contains($0) }.min()
        return left.map { "\(path)\($0) is missing on one side" }
    }

    private static func first(_ a: BSONValue, _ b: BSONValue, path: String) -> String? {
        guard a.type == b.type else { return "\(path) is \(a.type) and \(b.type)" }
        if case .document(let left) = a, case .document(let right) = b {
            return first(left, right, ignoring: [], path: path + ".")
        }
        if case .array(let left) = a, case .array(let right) = b {
            return first(left, right, path: path)
        }
        return a == b ? nil : "\(path) differs"
    }

    private static func first(_ a: BSONArray, _ b: BSONArray, path: String) -> String? {
        let (left, right) = (a.values, b.values)
        guard left.count == right.count else {
            return "\(path) has \(left.count) and \(right.count) values"
        }
        for (index, pair) in zip(left, right).enumerated() {
            if let found = first(pair.0, pair.1, path: "\(path).\(index)") { return found }
        }
        return nil
    }
}
