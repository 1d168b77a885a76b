import BSONQuery

/// The entries of a `Map` or `Set`, in the order in which they were added.
final class ScriptTable {
    /// A value by which entries are found.
    private enum Key: Hashable {
        case undefined
        case null
        case bool(Bool)
        case number(Double)
        case bigInt(ScriptBigInt)
        case notANumber
        case string(Name)
        case object(ObjectIdentifier)

        init(_ value: ScriptValue) {
            switch value {
            case .undefined: self = .undefined
            case .null: self = .null
            case .bool(let value): self = .bool(value)
            case .number(let number): self = number.isNaN ? .notANumber : .number(number)
            case .bigInt(let number): self = .bigInt(number)
            case .string(let text): self = .string(Name(text))
            case .object(let object): self = .object(ObjectIdentifier(object))
            }
        }
    }

    /// The entries; those that were removed are `nil`, so that loops keep their place.
    private(set) var entries: [(key: ScriptValue, value: ScriptValue)?] = []
    private var places: [Key: Int] = [:]

    var count: Int { places.count }

    func value(_ key: ScriptValue) -> ScriptValue? {
        places[Key(key)].flatMap { entries[$0]?.value }
    }

    func set(_ key: ScriptValue, _ value: ScriptValue) {
        if let place = places[Key(key)] {
            entries[place]?.value = value
        } else {
            places[Key(key)] = entries.count
            entries.append((key, value))
        }
    }

    func remove(_ key: ScriptValue) -> Bool {
        guard let place = places.removeValue(forKey: Key(key)) else { return false }
        entries[place] = nil
        return true
    }

    /// Returns a table with the same entries.
    func copy() -> ScriptTable {
        let copy = ScriptTable()
        for case (let key, let value)? in entries { copy.set(key, value) }
        return copy
    }

    /// Empties the table and returns what it held.
    func takeAll() -> [ScriptValue] {
        let all = entries.compactMap { $0 }.flatMap { [$0.key, $0.value] }
        entries = []
        places = [:]
        return all
    }
}
