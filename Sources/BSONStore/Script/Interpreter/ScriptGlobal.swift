import BSONQuery

/// A name that scripts find outside of all functions.
enum ScriptGlobal: String, Sendable {
    case math = "Math"
    case json = "JSON"
    case object = "Object"
    case array = "Array"
    case string = "String"
    case number = "Number"
    case boolean = "Boolean"
    case date = "Date"
    case isoDate = "ISODate"
    case regExp = "RegExp"
    case function = "Function"
    case error = "Error"
    case typeError = "TypeError"
    case rangeError = "RangeError"
    case syntaxError = "SyntaxError"
    case referenceError = "ReferenceError"
    case objectID = "ObjectId"
    case numberLong = "NumberLong"
    case numberInt = "NumberInt"
    case numberDecimal = "NumberDecimal"
    case parseInt
    case parseFloat
    case isNaN
    case isFinite
    case sleep
    case print
    case toJSON = "tojson"
    case toJSONOneLine = "tojsononeline"
    case assert
    case emit

    var isCallable: Bool { self != .math && self != .json }

    /// Returns a constant of the global.
    func constant(_ name: String) -> ScriptValue? {
        switch (self, name) {
        case (.math, "PI"): .number(.pi)
        case (.math, "E"): .number(2.718281828459045)
        case (.math, "LN2"): .number(0.6931471805599453)
        case (.math, "LN10"): .number(2.302585092994046)
        case (.math, "LOG2E"): .number(1.4426950408889634)
        case (.math, "LOG10E"): .number(0.4342944819032518)
        case (.math, "SQRT2"): .number(2.0.squareRoot())
        case (.math, "SQRT1_2"): .number(0.5.squareRoot())
        case (.number, "MAX_SAFE_INTEGER"): .number(9_007_199_254_740_991)
        case (.number, "MIN_SAFE_INTEGER"): .number(-9_007_199_254_740_991)
        case (.number, "MAX_VALUE"): .number(.greatestFiniteMagnitude)
        case (.number, "MIN_VALUE"): .number(.leastNonzeroMagnitude)
        case (.number, "EPSILON"): .number(.ulpOfOne)
        case (.number, "NaN"): .number(.nan)
        case (.number, "POSITIVE_INFINITY"): .number(.infinity)
        case (.number, "NEGATIVE_INFINITY"): .number(-.infinity)
        default: nil
        }
    }
}
