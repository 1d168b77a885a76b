extension ExtendedJSONParser {
    /// Converts a document whose keys and values form a legacy wrapper: code with the scope written
    /// first, a binary or a regular expression.
    ///
    /// Source: MongoDB Extended JSON specification. `$type`, `$regex`, `$options` and `$scope`
    /// alone are ordinary keys of a document; `$code` and `$binary` never are.
    mutating func convert(
        _ first: ExtendedJSONKey, typeIndex: Int, from: Int, _ opening: UnsafePointer<UInt8>
    ) throws(BSONError) {
        let document = BSONDocument(unchecked: out.array(from..<out.count))
        let elements = Array(document)
        let values = Dictionary(elements, uniquingKeysWith: { first, _ in first })
        switch first {
        case .scope:
            guard let code = values["$code"] else { return }
            try convertCode(code, values["$scope"], elements.count, typeIndex, from, opening)
        case .binary, .type:
            guard let text = values["$binary"] else { return }
            guard elements.count == 2, case .string(let base64) = text,
                case .string(let subtype)? = values["$type"]
            else {
                throw fault(
                    .invalidExtendedJSON, "A legacy $binary takes base64 and a $type.", at: opening)
            }
            try convertBinary(base64, subtype, typeIndex, from, opening)
        case .regex, .options:
            guard elements.count == 2, case .string(let pattern)? = values["$regex"],
                case .string(let options)? = values["$options"]
            else { return }
            try convertRegularExpression(pattern, options, typeIndex, from, opening)
        case .plain, .oid, .symbol, .numberInt, .numberLong, .numberDouble, .numberDecimal, .code,
            .timestamp, .regularExpression, .dbPointer, .date, .minKey, .maxKey, .undefined, .uuid:
            return
        }
    }

    private mutating func convertCode(
        _ code: BSONValue, _ scope: BSONValue?, _ count: Int, _ typeIndex: Int, _ from: Int,
        _ opening: UnsafePointer<UInt8>
    ) throws(BSONError) {
        switch (code, scope, count) {
        case (.string(let code), .document(let scope)?, 2):
            set(.javascriptWithScope, at: typeIndex)
            out.count = from
            out.reserve(4)
            out.put(little: 0 as Int32)
            putString(code)
            put(scope.bytes)
            out.patch(length: out.count - from, at: from)
        default:
            throw fault(
                .invalidExtendedJSON, "$code takes a string, and $scope a document.", at: opening)
        }
    }

    private mutating func convertBinary(
        _ base64: String, _ subtype: String, _ typeIndex: Int, _ from: Int,
        _ opening: UnsafePointer<UInt8>
    ) throws(BSONError) {
        let modern: BSONDocument = ["base64": .string(base64), "subType": .string(subtype)]
        let text = "{\"$binary\":\(modern.extendedJSON())}"
        let value: BSONValue
        do throws(BSONError) {
            value = try BSONValue(extendedJSON: text)
        } catch {
            throw fault(error.code, error.message, at: opening)
        }
        let carrier: BSONDocument = ["": value]
        set(.binary, at: typeIndex)
        out.count = from
        put(Array(carrier.bytes[6..<carrier.byteCount - 1]))
    }

    private mutating func convertRegularExpression(
        _ pattern: String, _ options: String, _ typeIndex: Int, _ from: Int,
        _ opening: UnsafePointer<UInt8>
    ) throws(BSONError) {
        guard !pattern.utf8.contains(0), !options.utf8.contains(0) else {
            throw fault(.embeddedNull, "A key or pattern cannot hold NUL.", at: opening)
        }
        set(.regularExpression, at: typeIndex)
        out.count = from
        let sorted = BSONRegularExpression.inOrder(options)
        put(Array(pattern.utf8) + [0] + Array(sorted.utf8) + [0])
    }

    private mutating func putString(_ text: String) {
        out.reserve(4)
        out.put(little: Int32(truncatingIfNeeded: text.utf8.count + 1))
        put(Array(text.utf8) + [0])
    }

    private mutating func put(_ bytes: [UInt8]) {
        out.reserve(bytes.count)
        for byte in bytes { out.put(byte) }
    }
}
