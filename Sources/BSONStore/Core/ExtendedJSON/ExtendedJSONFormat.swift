/// A form of Extended JSON version 2.
public enum ExtendedJSONFormat: Sendable, Hashable, CaseIterable {
    /// Wraps every value whose type JSON lacks, so that reading the text yields the same bytes.
    case canonical
    /// Writes numbers as JSON numbers and dates of the years 1970 to 9999 as ISO 8601 text.
    ///
    /// Reading the text may yield narrower numbers: an int64 of 1 returns as an int32.
    case relaxed
}

extension BSONDocument {
    /// Reads a document from Extended JSON, canonical, relaxed or legacy.
    ///
    /// Source: MongoDB Extended JSON specification, version 2. Numbers without a wrapper become
    /// int32 or int64; they become double if they have a fraction or an exponent or exceed 64 bits.
    ///
    /// - Throws: `BSONError` with byte offset, line and column if the text is not JSON, if a type
    ///   wrapper is malformed, or if the text exceeds the limits of `BSONLimits`.
    public init(extendedJSON text: some StringProtocol) throws(BSONError) {
        var text = String(text)
        self = try text.withUTF8 { utf8 in
            ExtendedJSONParser.document(UnsafeRawBufferPointer(utf8))
        }.get()
    }

    /// Reads a document from bytes of Extended JSON; throws if they are not UTF-8.
    ///
    /// - Throws: As ``init(extendedJSON:)``.
    public init(extendedJSONBytes bytes: [UInt8]) throws(BSONError) {
        self = try bytes.withUnsafeBytes { ExtendedJSONParser.document($0) }.get()
    }

    /// Reads a document from borrowed bytes of Extended JSON; throws if they are not UTF-8.
    ///
    /// - Throws: As ``init(extendedJSON:)``.
    public init(extendedJSONBytes bytes: UnsafeRawBufferPointer) throws(BSONError) {
        self = try ExtendedJSONParser.document(bytes).get()
    }

    /// Writes Extended JSON on one line without spaces or, if pretty, with one element per line.
    ///
    /// - Complexity: O(n) in the document's bytes.
    public func extendedJSON(
        _ format: ExtendedJSONFormat = .canonical, pretty: Bool = false
    ) -> String {
        withUnsafeBytes { bytes in
            var writer = ExtendedJSONWriter(bytes, format, pretty: pretty)
            writer.writeDocument()
            return writer.finishedText()
        }
    }

    /// Writes Extended JSON as UTF-8 bytes.
    ///
    /// - Complexity: O(n) in the document's bytes.
    public func extendedJSONBytes(
        _ format: ExtendedJSONFormat = .canonical, pretty: Bool = false
    ) -> [UInt8] {
        withUnsafeBytes { bytes in
            var writer = ExtendedJSONWriter(bytes, format, pretty: pretty)
            writer.writeDocument()
            return writer.finishedBytes()
        }
    }
}

extension BSONValue {
    /// Reads any single value from Extended JSON, for example `{"$oid": "…"}`, `[1, 2]` or `true`.
    ///
    /// - Throws: As `BSONDocument.init(extendedJSON:)`.
    public init(extendedJSON text: some StringProtocol) throws(BSONError) {
        var text = String(text)
        self = try text.withUTF8 { utf8 in
            ExtendedJSONParser.value(UnsafeRawBufferPointer(utf8))
        }.get()
    }

    /// Reads any single value from the UTF-8 bytes of Extended JSON.
    ///
    /// - Throws: As `BSONDocument.init(extendedJSON:)`.
    public init(extendedJSONBytes bytes: [UInt8]) throws(BSONError) {
        self = try bytes.withUnsafeBytes { ExtendedJSONParser.value($0) }.get()
    }

    /// Writes the value alone as Extended JSON.
    public func extendedJSON(
        _ format: ExtendedJSONFormat = .canonical, pretty: Bool = false
    ) -> String {
        let carrier: BSONDocument = ["": self]
        return carrier.withUnsafeBytes { bytes in
            var writer = ExtendedJSONWriter(bytes, format, pretty: pretty)
            writer.writeFirstValue()
            return writer.finishedText()
        }
    }
}

extension BSONArray {
    /// Writes the array as Extended JSON.
    public func extendedJSON(
        _ format: ExtendedJSONFormat = .canonical, pretty: Bool = false
    ) -> String {
        BSONValue.array(self).extendedJSON(format, pretty: pretty)
    }
}

extension BSONDocument: CustomStringConvertible {
    /// The document as relaxed Extended JSON, for logs and debuggers.
    public var description: String { extendedJSON(.relaxed) }
}
