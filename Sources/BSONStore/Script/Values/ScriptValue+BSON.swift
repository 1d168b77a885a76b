package import BSONQuery

extension ScriptValue {
    /// Converts a stored value for a script.
    ///
    /// All numbers become doubles, as in ECMAScript. Decimals, and other types that it does not
    /// know, become objects that keep their value.
    ///
    /// - Parameter keepsNumberTypes: whether integers of 64 bits become objects that keep their
    ///   type, as in MongoDB's shell.
    package init(_ value: BSONValue, keepsNumberTypes: Bool = false) {
        switch value {
        case .double(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .document(let document):
            self = .object(ScriptObject(document, keepsNumberTypes: keepsNumberTypes))
        case .array(let array):
            self = .object(
                ScriptObject(
                    elements: array.map { ScriptValue($0, keepsNumberTypes: keepsNumberTypes) }))
        case .undefined: self = .undefined
        case .bool(let value): self = .bool(value)
        case .datetime(let date):
            self = .object(ScriptObject(.date(Double(date.milliseconds))))
        case .null: self = .null
        case .regularExpression(let expression):
            do throws(StoreError) {
                let pattern = try ScriptRegExp(
                    expression.pattern, flags: expression.options.filter { "ims".contains($0) })
                self = .object(ScriptObject(.pattern(pattern)))
            } catch {
                self = .object(ScriptObject(.bson(value)))
            }
        case .symbol(let text) where !keepsNumberTypes: self = .string(text)
        case .int32(let number): self = .number(Double(number))
        case .int64(let number) where !keepsNumberTypes: self = .number(Double(number))
        default:
            self = .object(ScriptObject(.bson(value), keepsNumberTypes: keepsNumberTypes))
        }
    }

    /// Returns the value for storage.
    ///
    /// Numbers become doubles, or with `keepsNumberTypes` integers of 32 bits if they are such
    /// numbers. Fields of a document that still have their original whole number
    /// keep its type.
    ///
    /// - Parameter original: the value before the script ran.
    /// - Throws: 17279 for a value that is too deep or contains itself, 16985 for invalid field
    ///   names, 10334 (BSONObjectTooLarge).
    ///
    /// Source: the server's `valuewriter.cpp`.
    package func stored(
        was original: BSONValue? = nil, depth: Int = 0, keepsNumberTypes: Bool = false
    ) throws(StoreError) -> BSONValue {
        switch self {
        case .undefined: return .undefined
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(text)
        case .bigInt(let number):
            guard let whole = number.int64 else {
                throw StoreError(
                    .scriptFailed,
                    "RangeError: the BigInt \(number.text().prefix(40)) does not fit into a Long "
                        + "of 64 bits")
            }
            return .int64(whole)
        case .number(let number) where keepsNumberTypes:
            guard let whole = Int32(exactly: number), number != 0 || number.sign == .plus else {
                return .double(number)
            }
            return .int32(whole)
        case .number(let number):
            switch original {
            case .int32(let whole)? where Double(whole) == number: return .int32(whole)
            case .int64(let whole)? where Double(whole) == number: return .int64(whole)
            default: return .double(number)
            }
        case .object(let object): return try Self.value(of: object, depth, keepsNumberTypes)
        }
    }

    private static func value(
        of object: ScriptObject, _ depth: Int, _ keepsNumberTypes: Bool
    ) throws(StoreError) -> BSONValue {
        switch object.kind {
        case .array:
            try check(depth)
            var values: [BSONValue] = []
            values.reserveCapacity(object.elements.count)
            for element in object.elements {
                values.append(
                    try element.stored(depth: depth + 1, keepsNumberTypes: keepsNumberTypes))
            }
            return try ExpressionLimits.array(values)
        case .plain, .error, .map, .set, .iterator, .promise, .prototype, .accessor:
            try check(depth)
            var document = BSONDocument()
            for name in object.ownNames {
                guard !name.utf8.contains(0) else {
                    throw .location(
                        16985,
                        "JavaScript property (name) contains a null char which is not "
                            + "allowed in BSON")
                }
                let field = object.own(name) ?? .undefined
                let value = try field.stored(
                    was: object.origin?[name], depth: depth + 1,
                    keepsNumberTypes: keepsNumberTypes)
                try ExpressionLimits.check(document.byteCount + BSONWriter.count(value))
                document.append(name, value)
            }
            return .document(document)
        case .date(let time):
            guard let milliseconds = Int64(exactly: time.rounded(.towardZero)) else { return .null }
            return .datetime(BSONDatetime(milliseconds: milliseconds))
        case .pattern(let pattern):
            let options = String(pattern.flags.filter { "ims".contains($0) }.sorted())
            return .regularExpression(BSONRegularExpression(pattern.source, options: options))
        case .bson(let value): return value
        case .host(let host): return try host.stored()
        case .global(.minKey): return .minKey
        case .global(.maxKey): return .maxKey
        case .function, .method, .native, .global: return .javascript(object.text)
        }
    }

    private static func check(_ depth: Int) throws(StoreError) {
        guard depth < ExpressionLimits.depthMax else {
            throw .location(
                17279,
                "Exceeded depth limit of \(ExpressionLimits.depthMax) when converting js object to "
                    + "BSON. Do you have a cycle?")
        }
    }
}

extension ScriptObject {
    /// The ObjectId, if the value holds one.
    var objectID: BSONObjectID? {
        if case .bson(.objectID(let id)) = kind { id } else { nil }
    }
}
