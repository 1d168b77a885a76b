/// The class of a key: a key of Extended JSON's type wrappers or of an ordinary document.
///
/// Source: MongoDB Extended JSON specification, "Conversion table" and "Legacy Extended JSON".
enum ExtendedJSONKey {
    /// Any key of a document, query operators and DBRefs included.
    case plain
    case oid, symbol, numberInt, numberLong, numberDouble, numberDecimal, binary, code, timestamp
    case regularExpression, dbPointer, date, minKey, maxKey, undefined, uuid
    /// `$scope`, which has a meaning only together with `$code`.
    case scope
    /// Keys that legacy forms share with query operators; the values decide.
    case regex, options, type

    /// Classifies a key that begins with a dollar sign.
    @inline(__always)
    init(_ key: UnsafeBufferPointer<UInt8>) {
        self = .plain
        switch key.count {
        case 4: take(.oid, key, "$oid")
        case 5:
            take(.date, key, "$date")
            take(.code, key, "$code")
            take(.uuid, key, "$uuid")
            take(.type, key, "$type")
        case 6:
            take(.scope, key, "$scope")
            take(.regex, key, "$regex")
        case 7:
            take(.binary, key, "$binary")
            take(.symbol, key, "$symbol")
            take(.minKey, key, "$minKey")
            take(.maxKey, key, "$maxKey")
        case 8: take(.options, key, "$options")
        case 10:
            take(.numberInt, key, "$numberInt")
            take(.timestamp, key, "$timestamp")
            take(.undefined, key, "$undefined")
            take(.dbPointer, key, "$dbPointer")
        case 11: take(.numberLong, key, "$numberLong")
        case 13: take(.numberDouble, key, "$numberDouble")
        case 14: take(.numberDecimal, key, "$numberDecimal")
        case 18: take(.regularExpression, key, "$regularExpression")
        default: break
        }
    }

    @inline(__always)
    private mutating func take(
        _ found: ExtendedJSONKey, _ key: UnsafeBufferPointer<UInt8>, _ name: StaticString
    ) {
        if ExtendedJSONCharacters.equal(key, name) { self = found }
    }

    /// Whether an object with this key is a wrapper or an error, never a document.
    var isReserved: Bool {
        switch self {
        case .plain, .scope, .regex, .options, .type: false
        case .oid, .symbol, .numberInt, .numberLong, .numberDouble, .numberDecimal, .binary, .code,
            .timestamp, .regularExpression, .dbPointer, .date, .minKey, .maxKey, .undefined, .uuid:
            true
        }
    }
}
