import BSONQuery

/// A name that scripts find outside of all functions.
enum ScriptGlobal: String, Sendable {
    case math = "Math"
    case json = "JSON"
    case object = "Object"
    case array = "Array"
    case string = "String"
    case number = "Number"
    case bigInt = "BigInt"
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
    case map = "Map"
    case set = "Set"
    case promise = "Promise"
    case symbol = "Symbol"
    case long = "Long"
    case int32 = "Int32"
    case double = "Double"
    case decimal128 = "Decimal128"
    case uuid = "UUID"
    case binary = "Binary"
    case binData = "BinData"
    case hexData = "HexData"
    case timestamp = "Timestamp"
    case minKey = "MinKey"
    case maxKey = "MaxKey"
    case dbRef = "DBRef"
    case code = "Code"
    case bsonSymbol = "BSONSymbol"
    case bsonRegExp = "BSONRegExp"
    case encodeURIComponent
    case decodeURIComponent
    case structuredClone
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

    /// The functions of the global that can be read as values.
    var functions: Set<String> {
        switch self {
        case .math:
            [
                "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
                "clz32", "cos", "cosh", "exp", "expm1", "floor", "fround", "hypot", "imul", "log",
                "log10", "log1p", "log2", "max", "min", "pow", "random", "round", "sign", "sin",
                "sinh", "sqrt", "tan", "tanh", "trunc",
            ]
        case .json: ["parse", "stringify"]
        case .object:
            [
                "assign", "bsonsize", "create", "defineProperty", "entries", "freeze",
                "fromEntries",
                "getOwnPropertyNames", "getPrototypeOf", "groupBy", "hasOwn", "is", "isFrozen",
                "keys",
                "seal", "setPrototypeOf", "values",
            ]
        case .array:
            ["avg", "contains", "from", "isArray", "of", "stdDev", "sum", "unique"]
        case .date: ["UTC", "now", "parse"]
        case .number: ["isFinite", "isInteger", "isNaN", "isSafeInteger", "parseFloat", "parseInt"]
        case .bigInt: ["asIntN", "asUintN"]
        case .string: ["fromCharCode", "fromCodePoint", "raw"]
        case .promise: ["all", "allSettled", "any", "race", "reject", "resolve"]
        case .long: ["fromBits", "fromInt", "fromNumber", "fromString"]
        case .decimal128: ["fromString"]
        case .objectID: ["createFromHexString", "createFromTime", "isValid"]
        default: []
        }
    }

    /// Returns the global that makes values of a kind.
    static func type(of value: ScriptValue) -> ScriptGlobal? {
        switch value {
        case .undefined, .null: nil
        case .bool: .boolean
        case .number: .number
        case .bigInt: .bigInt
        case .string: .string
        case .object(let object):
            switch object.kind {
            case .plain, .prototype, .host, .accessor: .object
            case .array: .array
            case .function, .method, .global, .native: .function
            case .date: .date
            case .pattern: .regExp
            case .error: object.own("name").flatMap { ScriptGlobal(rawValue: $0.text) } ?? .error
            case .map: .map
            case .set: .set
            case .iterator: .object
            case .promise: .promise
            case .bson(let value): ScriptBSON.type(of: value)
            }
        }
    }

    /// Returns a constant of the global.
    func constant(_ name: String) -> ScriptValue? {
        switch (self, name) {
        case (.symbol, _): ScriptSymbol.known(name).map { .host($0) }
        case (.math, "PI"): .number(.pi)
        case (.math, "E"): .number(2.718281828459045)
        case (.math, "LN2"): .number(0.6931471805599453)
        case (.math, "LN10"): .number(2.302585092994046)
        case (.math, "LOG2E"): .number(1.4426950408889634)
        case (.math, "LOG10E"): .number(0.4342944819032518)
        case (.math, "SQRT2"): .number(2.0.squareRoot())
        case (.math, "SQRT1_2"): .number(0.5.squareRoot())
        case (.long, "MAX_VALUE"):
            .object(ScriptObject(.bson(.int64(.max)), keepsNumberTypes: true))
        case (.long, "MIN_VALUE"):
            .object(ScriptObject(.bson(.int64(.min)), keepsNumberTypes: true))
        case (.long, "ZERO"): .object(ScriptObject(.bson(.int64(0)), keepsNumberTypes: true))
        case (.long, "ONE"): .object(ScriptObject(.bson(.int64(1)), keepsNumberTypes: true))
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
