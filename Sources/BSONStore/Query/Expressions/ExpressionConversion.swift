/// The conversion of values to other types for `$convert`.
enum ExpressionConversion {
    /// A requested type; "missing" is a valid name that no value converts to.
    enum Target {
        case type(BSONType)
        case missing
    }

    /// Parses the argument `to`: a type's name or number, or a document of it and a binary's
    /// subtype; `nil` for null.
    ///
    /// - Throws: `failedToParse`, `badValue` or 4341106 and the following with MongoDB's text for
    ///   an invalid type.
    static func target(
        _ value: BSONValue?
    ) throws(StoreError) -> (target: Target, subtype: UInt8)? {
        let type = if case .document(let document)? = value { document["type"] } else { value }
        guard let type, !NumberCoercion.isNullish(type) else { return nil }
        let target = try target(named: type)
        guard case .type(.binary) = target else { return (target, 0) }
        return (target, try BinaryConversion.subtype(value?.documentValue?["subtype"]))
    }

    private static func target(named value: BSONValue) throws(StoreError) -> Target {
        if case .string(let name) = value {
            if name == "missing" { return .missing }
            guard let type = BSONType.byAlias[name] else {
                throw StoreError(.badValue, "Unknown type name: \(name)")
            }
            return .type(type)
        }
        guard NumberCoercion.isNumber(value) else {
            throw StoreError(
                .failedToParse,
                "$convert's 'to' argument must be a string or number, but is "
                    + ExpressionText.type(of: value))
        }
        guard let number = NumberCoercion.exact32(value) else {
            throw StoreError(
                .failedToParse, "In $convert, numeric 'to' argument is not an integer")
        }
        if number == 0 { return .missing }
        let byte = number == -1 ? 0xFF : number
        guard let raw = UInt8(exactly: byte), number < 0xFF, let type = BSONType(rawValue: raw)
        else {
            throw StoreError(
                .failedToParse,
                "In $convert, numeric value for 'to' does not correspond to a BSON type: \(number)")
        }
        return .type(type)
    }

    /// Converts a value to another type.
    ///
    /// - Throws: `conversionFailure` with MongoDB's text if the value cannot be converted.
    static func convert(
        _ value: BSONValue, to type: BSONType, _ conversion: BinaryConversion = BinaryConversion()
    ) throws(StoreError) -> BSONValue {
        if case .binary(let binary) = value {
            switch type {
            case .double: return .double(try conversion.double(binary))
            case .string: return .string(try conversion.text(binary))
            case .int32: return .int32(try conversion.whole(binary, Int32.self, "int"))
            case .int64: return .int64(try conversion.whole(binary, Int64.self, "long"))
            default: break
            }
        }
        switch type {
        case .double: return .double(try double(value))
        case .string: return .string(try string(value))
        case .binary: return .binary(try conversion.binary(value))
        case .objectID: return .objectID(try objectID(value))
        case .bool: return .bool(Expression.isTrue(value))
        case .datetime: return .datetime(try date(value))
        case .int32: return .int32(try int32(value))
        case .int64: return .int64(try int64(value))
        case .decimal128: return .decimal128(try decimal(value))
        case .document, .array, .undefined, .null, .regularExpression, .dbPointer,
            .javascript, .symbol, .javascriptWithScope, .timestamp, .minKey, .maxKey:
            throw unsupported(value, type.alias)
        }
    }

    /// Returns the error for two types without a conversion.
    static func unsupported(_ value: BSONValue, _ name: String) -> StoreError {
        failure(
            "Unsupported conversion from \(ExpressionText.type(of: value)) to \(name) in $convert "
                + "with no onError value")
    }

    static func failure(_ text: String) -> StoreError { StoreError(.conversionFailure, text) }

    private static func overflow(_ text: String) -> StoreError {
        failure("Conversion would overflow target type in $convert with no onError value: \(text)")
    }

    private static func double(_ value: BSONValue) throws(StoreError) -> Double {
        switch value {
        case .double(let number): return number
        case .string(let text): return try ExpressionNumberParser.double(text)
        case .bool(let flag): return flag ? 1 : 0
        case .datetime(let date): return Double(date.milliseconds)
        case .int32(let number): return Double(number)
        case .int64(let number): return Double(number)
        case .decimal128(let number):
            let result = number.doubleValue
            let isLost = result.isInfinite || result == 0 && !number.isZero
            guard number.kind != .finite || !isLost else { throw overflow(number.description) }
            return result
        default: throw unsupported(value, "double")
        }
    }

    private static func string(_ value: BSONValue) throws(StoreError) -> String {
        switch value {
        case .double(let number):
            guard number.isFinite else {
                return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
            }
            return ExpressionText.shortest(number)
        case .string(let text): return text
        case .objectID(let id): return ExpressionText.hexadecimal(id)
        case .bool(let flag): return flag ? "true" : "false"
        case .datetime(let date):
            return try ExpressionDateFormat.text(
                ExpressionDateFormat.isoFormat, date.milliseconds, .utc)
        case .int32(let number): return String(number)
        case .int64(let number): return String(number)
        case .decimal128(let number): return number.description
        default: throw unsupported(value, "string")
        }
    }

    private static func objectID(_ value: BSONValue) throws(StoreError) -> BSONObjectID {
        switch value {
        case .objectID(let id): return id
        case .string(let text):
            func fault(_ reason: String) -> StoreError {
                failure(
                    "Failed to parse objectId '\(text)' in $convert with no onError value: \(reason)"
                )
            }
            guard text.utf8.count == 24 else {
                throw fault(
                    "Invalid string length for parsing to OID, expected 24 but found "
                        + String(text.utf8.count))
            }
            let id: BSONObjectID?
            do throws(BSONError) { id = try BSONObjectID(text) } catch { id = nil }
            guard let id else {
                let bad = text.unicodeScalars.first { !$0.properties.isASCIIHexDigit }
                throw fault(
                    "Invalid character found in hex string: \(bad.map { String($0) } ?? "")")
            }
            return id
        default: throw unsupported(value, "objectId")
        }
    }

    private static func date(_ value: BSONValue) throws(StoreError) -> BSONDatetime {
        switch value {
        case .double, .int64, .decimal128: return BSONDatetime(milliseconds: try int64(value))
        case .string(let text): return try ExpressionDateParser.date(text, nil, .utc)
        case .datetime(let date): return date
        case .objectID, .timestamp: return try ExpressionDate.coerce(value)
        default: throw unsupported(value, "date")
        }
    }

    private static func int32(_ value: BSONValue) throws(StoreError) -> Int32 {
        switch value {
        case .double(let number):
            try checkFinite(number.isNaN, number.isInfinite)
            guard number >= -0x1p31, number <= 0x1p31 - 1 else {
                throw overflow(ExpressionText.number(number))
            }
            return Int32(number)
        case .string(let text): return try ExpressionNumberParser.whole(text)
        case .bool(let flag): return flag ? 1 : 0
        case .int32(let number): return number
        case .int64(let number):
            // The server omits the number in this text.
            guard let narrow = Int32(exactly: number) else { throw overflow("") }
            return narrow
        case .decimal128(let number):
            let whole = try cut(number)
            guard let narrow = whole.flatMap({ Int32(exactly: $0) }) else {
                throw overflow(number.description)
            }
            return narrow
        default: throw unsupported(value, "int")
        }
    }

    private static func int64(_ value: BSONValue) throws(StoreError) -> Int64 {
        switch value {
        case .double(let number):
            try checkFinite(number.isNaN, number.isInfinite)
            guard number >= -0x1p63, number < 0x1p63 else {
                throw overflow(ExpressionText.number(number))
            }
            return Int64(number)
        case .string(let text): return try ExpressionNumberParser.whole(text)
        case .bool(let flag): return flag ? 1 : 0
        case .datetime(let date): return date.milliseconds
        case .int32(let number): return Int64(number)
        case .int64(let number): return number
        case .decimal128(let number):
            guard let whole = try cut(number) else { throw overflow(number.description) }
            return whole
        default: throw unsupported(value, "long")
        }
    }

    /// Returns the whole part of a decimal, `nil` if it does not fit.
    private static func cut(_ number: BSONDecimal128) throws(StoreError) -> Int64? {
        try checkFinite(number.kind == .nan, number.kind == .infinite)
        if number.exponent >= 0 { return number.int64Value }
        return number.quantized(to: 0, .towardZero).int64Value
    }

    private static func checkFinite(_ isNaN: Bool, _ isInfinite: Bool) throws(StoreError) {
        if isNaN {
            throw failure(
                "Attempt to convert NaN value to integer type in $convert with no onError value")
        }
        if isInfinite {
            throw failure(
                "Attempt to convert infinity value to integer type in $convert with no onError "
                    + "value")
        }
    }

    private static func decimal(_ value: BSONValue) throws(StoreError) -> BSONDecimal128 {
        switch value {
        case .double, .int32, .int64, .decimal128: return NumberCoercion.decimal(value) ?? .nan
        case .string(let text): return try ExpressionNumberParser.decimal(text)
        case .bool(let flag): return BSONDecimal128(flag ? 1 : 0 as Int64)
        case .datetime(let date): return BSONDecimal128(date.milliseconds)
        default: throw unsupported(value, "decimal")
        }
    }
}
