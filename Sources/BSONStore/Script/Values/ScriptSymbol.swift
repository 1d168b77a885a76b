import BSONQuery

/// A name of a property that differs from every other name.
final class ScriptSymbol: ScriptHost {
    /// The text in errors and results.
    let description: String?
    /// The name of the properties, which no loop visits.
    let text: String

    /// The name of the method that returns an object's iterator.
    static let iterator = ScriptObject.privateMark + "Symbol.iterator"
    private static let known = ["iterator", "asyncIterator", "toStringTag", "toPrimitive"]

    /// Creates a symbol.
    ///
    /// - Parameter number: a number that no other symbol has.
    init(_ description: String?, number: Int) {
        self.description = description
        text = ScriptObject.privateMark + "Symbol \(number) \(description ?? "")"
    }

    private init(known name: String) {
        description = "Symbol.\(name)"
        text = ScriptObject.privateMark + "Symbol.\(name)"
    }

    /// Returns a symbol that the language defines.
    static func known(_ name: String) -> ScriptSymbol? {
        known.contains(name) ? ScriptSymbol(known: name) : nil
    }

    /// The symbol as `toString` writes it.
    var shown: String { "Symbol(\(description ?? ""))" }

    func property(_ name: String) throws -> ScriptValue? {
        switch name {
        case "description": return description.map { .string($0) } ?? .undefined
        case "toString": return .native(name) { [shown] _ in .string(shown) }
        default: return nil
        }
    }
}

extension ScriptValue {
    /// The symbol, if the value is one.
    var symbol: ScriptSymbol? { host as? ScriptSymbol }
}
