package import BSONCore
import LibBSONC

/// MongoDB's own C library, the reference with which the tests compare this one.
///
/// No performance-critical path uses it. Debian's libbson wants its structures on 128-byte
/// boundaries, which Swift cannot guarantee, so libbson itself always allocates the documents.
package enum LibBSONReference {
    /// Whether `bson_validate` accepts the bytes, UTF-8 included.
    ///
    /// Version 1.23 overlooks malformed UTF-8 in strings and everything behind code with scope
    /// (CDRIVER-4448, CDRIVER-6017), so acceptance proves less than refusal.
    package static func validates(_ bytes: [UInt8]) -> Bool {
        withDocument(bytes) { document in
            var offset = 0
            let flags = bson_validate_flags_t(
                rawValue: BSON_VALIDATE_UTF8.rawValue | BSON_VALIDATE_UTF8_ALLOW_NULL.rawValue)
            return bson_validate(document, flags, &offset)
        } ?? false
    }

    /// Returns Extended JSON as libbson writes it; `nil` if libbson refuses the bytes.
    package static func extendedJSON(_ bytes: [UInt8], _ format: ExtendedJSONFormat) -> String? {
        withDocument(bytes) { document -> String? in
            var count = 0
            let text =
                switch format {
                case .canonical: bson_as_canonical_extended_json(document, &count)
                case .relaxed: bson_as_relaxed_extended_json(document, &count)
                }
            guard let text else { return nil }
            defer { bson_free(text) }
            return text.withMemoryRebound(to: UInt8.self, capacity: count) { start in
                String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
            }
        } ?? nil
    }

    /// Returns the bytes that libbson reads from Extended JSON; `nil` if it refuses the text.
    package static func document(extendedJSON text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { utf8 -> [UInt8]? in
            var error = bson_error_t()
            guard let document = bson_new_from_json(utf8.baseAddress, utf8.count, &error) else {
                return nil
            }
            defer { bson_destroy(document) }
            guard let bytes = bson_get_data(document) else { return nil }
            let length = UnsafeRawPointer(bytes).loadUnaligned(as: Int32.self)
            return Array(UnsafeBufferPointer(start: bytes, count: Int(Int32(littleEndian: length))))
        }
    }

    /// Returns the decimal number that libbson reads from a text; `nil` if it refuses the text.
    package static func decimal128(_ text: String) -> BSONDecimal128? {
        var value = bson_decimal128_t()
        guard text.withCString({ bson_decimal128_from_string($0, &value) }) else { return nil }
        return BSONDecimal128(high: value.high, low: value.low)
    }

    /// Returns libbson's text of a decimal number.
    package static func text(_ value: BSONDecimal128) -> String {
        var source = bson_decimal128_t()
        source.high = value.high
        source.low = value.low
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            bson_decimal128_to_string(&source, start)
            return String(cString: start)
        }
    }

    private static func withDocument<R>(
        _ bytes: [UInt8], _ body: (OpaquePointer) -> R
    ) -> R? {
        guard let document = bson_new_from_data(bytes, bytes.count) else { return nil }
        defer { bson_destroy(document) }
        return body(document)
    }
}
