import BSONQuery

/// A value of a running script.
package enum ScriptValue {
    case undefined
    case null
    case bool(Bool)
    case number(Double)
    case bigInt(ScriptBigInt)
    case string(String)
    case object(ScriptObject)

    package static func error(_ kind: String, _ message: String) -> ScriptValue {
        let error = ScriptObject(.error)
        error.hide("name", .string(kind))
        error.hide("message", .string(message))
        return .object(error)
    }

    /// The result of `typeof`.
    var typeName: String {
        switch self {
        case .undefined: "undefined"
        case .null: "object"
        case .bool: "boolean"
        case .number: "number"
        case .bigInt: "bigint"
        case .string: "string"
        case .object(let object):
            object.isCallable ? "function" : symbol == nil ? "object" : "symbol"
        }
    }

    /// Whether the value counts as true.
    package var isTrue: Bool {
        switch self {
        case .undefined, .null: false
        case .bool(let value): value
        case .number(let number): number != 0 && !number.isNaN
        case .bigInt(let number): !number.isZero
        case .string(let text): !text.isEmpty
        case .object: true
        }
    }

    var isNothing: Bool {
        switch self {
        case .undefined, .null: true
        default: false
        }
    }

    package var object: ScriptObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value as a number, `NaN` if it cannot be converted.
    package var number: Double {
        switch primitive(prefersText: false) {
        case .undefined, .object: .nan
        case .null: 0
        case .bool(let value): value ? 1 : 0
        case .number(let number): number
        case .bigInt(let number): number.double
        case .string(let text): ScriptNumber.value(of: text)
        }
    }

    /// The value as a whole number; infinities are clamped, `NaN` is 0.
    var integer: Int {
        let number = number
        if number.isNaN { return 0 }
        return Int(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min / 2 : .max / 2)
    }

    /// The value as 32 bits, for bitwise operators.
    var bits: Int32 {
        let number = number
        guard number.isFinite else { return 0 }
        let whole = number.rounded(.towardZero).truncatingRemainder(dividingBy: 4_294_967_296)
        return Int32(truncatingIfNeeded: Int64(whole))
    }

    /// The value as a text.
    package var text: String {
        switch primitive(prefersText: true) {
        case .undefined: "undefined"
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): ScriptNumber.text(number)
        case .bigInt(let number): number.text()
        case .string(let text): text
        case .object: "[object Object]"
        }
    }

    /// Returns the primitive value of an object, as a number or a text.
    func primitive(prefersText: Bool) -> ScriptValue {
        guard case .object(let object) = self else { return self }
        switch object.kind {
        case .date(let time) where !prefersText: return .number(time)
        case .bson(.decimal128(let decimal)) where !prefersText:
            return .number(ScriptNumber.value(of: decimal.description))
        case .bson(let value) where object.keepsNumberTypes:
            guard !prefersText, let number = ScriptBSON.number(value) else {
                return .string(object.text)
            }
            return .number(number)
        default: return .string(object.text)
        }
    }

    /// Whether two values are the same without conversion.
    static func isSame(_ left: ScriptValue, _ right: ScriptValue) -> Bool {
        switch (left, right) {
        case (.undefined, .undefined), (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.bigInt(let left), .bigInt(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.object(let first), .object(let second)):
            first === second || isSame(left.symbol, right.symbol)
        default: false
        }
    }

    /// Whether two symbols are the same one, of which each reading may make an object.
    private static func isSame(_ left: ScriptSymbol?, _ right: ScriptSymbol?) -> Bool {
        guard let left, let right else { return false }
        return left.text.hasSameBytes(as: right.text)
    }

    /// Whether two values are equal after conversion.
    static func isEqual(_ left: ScriptValue, _ right: ScriptValue) -> Bool {
        switch (left, right) {
        case (.undefined, .null), (.null, .undefined): true
        case (.undefined, _), (.null, _), (_, .undefined), (_, .null): false
        case (.object, .object): isSame(left, right)
        case (.object, _): isEqual(left.primitive(prefersText: false), right)
        case (_, .object): isEqual(left, right.primitive(prefersText: false))
        case (.string, .string): isSame(left, right)
        case (.bigInt(let number), let other), (let other, .bigInt(let number)):
            number.order(to: other) == .same
        default: left.number == right.number
        }
    }

    /// Whether the left value is less, `nil` if they cannot be compared.
    static func isLess(_ left: ScriptValue, _ right: ScriptValue) -> Bool? {
        let (left, right) = (
            left.primitive(prefersText: false), right.primitive(prefersText: false)
        )
        if case .string(let left) = left, case .string(let right) = right {
            return left.utf16.lexicographicallyPrecedes(right.utf16)
        }
        switch (left, right) {
        case (.bigInt(let number), let other): return number.order(to: other).map { $0 == .less }
        case (let other, .bigInt(let number)):
            return number.order(to: other).map { $0 == .greater }
        default: break
        }
        let (first, second) = (left.number, right.number)
        return first.isNaN || second.isNaN ? nil : first < second
    }
}
