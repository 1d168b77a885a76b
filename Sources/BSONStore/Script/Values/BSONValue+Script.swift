import BSONQuery

extension BSONValue {
    /// Converts a script's value for storage.
    ///
    /// Numbers become doubles. Fields of a document that still have their original whole number
    /// keep its type.
    ///
    /// - Parameter original: the value before the script ran.
    /// - Throws: 17279 for a value that is too deep or contains itself, 16985 for invalid field
    ///   names, 10334 (BSONObjectTooLarge).
    ///
    /// Source: the server's `valuewriter.cpp`.
    init(
        _ value: ScriptValue, was original: BSONValue? = nil, depth: Int = 0
    ) throws(StoreError) {
        switch value {
        case .undefined: self = .undefined
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .number(let number):
            switch original {
            case .int32(let whole)? where Double(whole) == number: self = .int32(whole)
            case .int64(let whole)? where Double(whole) == number: self = .int64(whole)
            default: self = .double(number)
            }
        case .object(let object): self = try Self.value(of: object, depth)
        }
    }

    private static func value(
        of object: ScriptObject, _ depth: Int
    ) throws(StoreError) -> BSONValue {
        switch object.kind {
        case .array:
            try check(depth)
            var values: [BSONValue] = []
            values.reserveCapacity(object.elements.count)
            for element in object.elements {
                values.append(try BSONValue(element, depth: depth + 1))
            }
            return try ExpressionLimits.array(values)
        case .plain, .error:
            try check(depth)
            var document = BSONDocument()
            for name in object.ownNames {
                guard !name.utf8.contains(0) else {
                    throw .location(
                        16985,
                        "JavaScript property (name) contains a null char which is not "
                            + "allowed in BSON")
                }
                let value = try BSONValue(
                    object.own(name) ?? .undefined, was: object.origin?[name], depth: depth + 1)
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
        case .function, .method, .global: return .javascript(object.text)
        }
    }

    private static func check(_ depth: Int) throws(StoreError) {
        guard depth < ExpressionLimits.depthMax else {
            throw .location(
                17279,
                "Exceeded depth limit of \(ExpressionLimits.depthMax) when converting js object to BSON. Do "
                    + "you have a cycle?")
        }
    }
}
