import BSONQuery

/// A list of items that a script takes one after the other.
final class ScriptIterator {
    private var items: [ScriptValue]
    private var position = 0

    init(_ items: [ScriptValue]) { self.items = items }

    func next() -> ScriptValue? {
        guard position < items.count else { return nil }
        defer { position += 1 }
        return items[position]
    }

    /// Empties the iterator and returns what it held.
    func takeAll() -> [ScriptValue] {
        defer { items = [] }
        return items
    }
}
