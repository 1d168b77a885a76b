import BSONQuery

/// The operators, functions and methods of a `BigInt`.
struct ScriptBigIntCalls {
    let interpreter: ScriptInterpreter

    static let methods: Set<String> = ["toLocaleString"]

    /// Returns the result of an operator; `nil` if neither side is a `BigInt`.
    func apply(
        _ applied: ScriptOperator, _ left: ScriptValue, _ right: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue? {
        switch (left, right) {
        case (.bigInt(let left), .bigInt(let right)):
            try checkSize(applied, left, right)
            let result = try compute(applied, left, right)
            try interpreter.charge(32 + 4 * result.limbs.count)
            try interpreter.step(1 + left.limbs.count * right.limbs.count / 64)
            return .bigInt(result)
        // The parser writes `-a` as a subtraction from a negative zero.
        case (.number(let zero), .bigInt(let right))
        where applied == .subtract && zero == 0 && zero.sign == .minus:
            return .bigInt(right.negated)
        case (.bigInt, _), (_, .bigInt):
            throw interpreter.fail(
                "TypeError", "Cannot mix BigInt and other types, use explicit conversions")
        default: return nil
        }
    }

    private func checkSize(
        _ applied: ScriptOperator, _ left: ScriptBigInt, _ right: ScriptBigInt
    ) throws(ScriptFailure) {
        let bits: Int
        switch applied {
        case .power:
            guard !right.isNegative else {
                throw interpreter.fail("RangeError", "Exponent must be non-negative")
            }
            let isSmall = left.bitCount <= 1
            let exponent = isSmall ? 1 : Int(right.int64 ?? .max)
            let (product, isTooMuch) = left.bitCount.multipliedReportingOverflow(by: exponent)
            bits = isTooMuch ? .max : product
        case .multiply: bits = left.bitCount + right.bitCount
        case .shiftLeft, .shiftRight:
            let grows = (applied == .shiftLeft) != right.isNegative
            let count = Int(clamping: right.int64?.magnitude ?? .max)
            bits = grows && !left.isZero ? left.bitCount + min(count, .max / 2) : 0
        default: bits = max(left.bitCount, right.bitCount)
        }
        guard bits <= ScriptBigInt.bitsMax else {
            throw interpreter.fail("RangeError", "Maximum BigInt size exceeded")
        }
    }

    private func compute(
        _ applied: ScriptOperator, _ left: ScriptBigInt, _ right: ScriptBigInt
    ) throws(ScriptFailure) -> ScriptBigInt {
        switch applied {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide, .remainder:
            guard !right.isZero else { throw interpreter.fail("RangeError", "Division by zero") }
            let (quotient, remainder) = left.divided(by: right)
            return applied == .divide ? quotient : remainder
        case .power:
            if left.bitCount <= 1 {
                let isOdd = (right.limbs.first ?? 0) & 1 == 1
                return right.isZero ? ScriptBigInt(1) : isOdd ? left : left * left
            }
            return left.power(Int(right.int64 ?? 0))
        case .bitAnd: return ScriptBigInt.bits(left, right) { $0 & $1 }
        case .bitOr: return ScriptBigInt.bits(left, right) { $0 | $1 }
        case .bitXor: return ScriptBigInt.bits(left, right) { $0 ^ $1 }
        case .shiftLeft, .shiftRight:
            let count = Int(clamping: right.int64?.magnitude ?? .max)
            let isLeft = (applied == .shiftLeft) != right.isNegative
            guard isLeft else { return left.shifted(right: count) }
            return left.isZero ? left : left.shifted(left: count)
        default:
            throw interpreter.fail(
                "TypeError", "BigInts have no unsigned right shift, use >> instead")
        }
    }

    /// Makes a `BigInt` of a value.
    func make(_ given: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        var value = given
        if case .bson(.int64(let number)) = value.object?.kind {
            return .bigInt(ScriptBigInt(number))
        }
        if value.object != nil {
            value = try interpreter.primitive(value, prefersText: false)
        }
        switch value {
        case .bigInt: return value
        case .bool(let isOne): return .bigInt(ScriptBigInt(isOne ? 1 : 0))
        case .number(let number):
            guard let whole = ScriptBigInt(exactly: number) else {
                throw interpreter.fail(
                    "RangeError",
                    "The number \(value.text) cannot be converted to a BigInt because it is "
                        + "not an integer")
            }
            return .bigInt(whole)
        case .string(let text):
            try interpreter.step(1 + text.utf8.count / 8)
            guard let number = ScriptBigInt(text: text) else {
                throw interpreter.fail("SyntaxError", "Cannot convert \(text) to a BigInt")
            }
            return .bigInt(number)
        case .undefined, .null, .object:
            throw interpreter.fail("TypeError", "Cannot convert \(value.text) to a BigInt")
        }
    }

    /// Calls `BigInt.asIntN` or `BigInt.asUintN`; `nil` for another name.
    func invoke(
        _ name: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        guard name == "asIntN" || name == "asUintN" else { return nil }
        let value = arguments.count > 1 ? arguments[1] : .undefined
        guard case .bigInt(let number) = value else {
            throw interpreter.fail("TypeError", "Cannot convert \(value.text) to a BigInt")
        }
        let count = arguments[0].integer
        guard 0...ScriptBigInt.bitsMax ~= count else {
            throw interpreter.fail(
                "RangeError", "Invalid value: not (convertible to) a safe integer")
        }
        return .bigInt(number.lowest(count, isSigned: name == "asIntN"))
    }

    /// Returns the digits of a number in a radix.
    func text(_ number: ScriptBigInt, _ radix: ScriptValue?) throws(ScriptFailure) -> ScriptValue {
        let radix = radix.map { $0.isNothing ? 10 : $0.integer } ?? 10
        guard 2...36 ~= radix else {
            throw interpreter.fail(
                "RangeError", "toString() radix argument must be between 2 and 36")
        }
        try interpreter.charge(number.limbs.count * 32)
        return .string(number.text(radix: radix))
    }

    /// Fails for a `BigInt` among the arguments of a function of numbers.
    func refuse(_ arguments: [ScriptValue]) throws(ScriptFailure) {
        for case .bigInt in arguments {
            throw interpreter.fail("TypeError", "Cannot convert a BigInt value to a number")
        }
    }
}
