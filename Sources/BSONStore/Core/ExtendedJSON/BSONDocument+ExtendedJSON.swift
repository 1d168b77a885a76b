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

    /// Returns the document with values of deprecated types replaced by their successors, at all
    /// depths.
    ///
    /// Undefined becomes null, a symbol a string, a DBPointer a DBRef. Code keeps its type.
    ///
    /// Source: MongoDB's BSON corpus, "converted" cases.
    public func replacingDeprecatedTypes() -> BSONDocument {
        var result = BSONDocument()
        for (key, value) in self { result.append(key, value.replacingDeprecatedTypes()) }
        return result
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

    /// Returns the value with deprecated types replaced as in a document.
    public func replacingDeprecatedTypes() -> BSONValue {
        switch self {
        case .double, .string, .binary, .objectID, .bool, .datetime, .null, .regularExpression,
            .javascript, .int32, .timestamp, .int64, .decimal128, .minKey, .maxKey:
            self
        case .document(let nested): .document(nested.replacingDeprecatedTypes())
        case .array(let array): .array(BSONArray(array.map { $0.replacingDeprecatedTypes() }))
        case .undefined: .null
        case .dbPointer(let pointer):
            ["$ref": .string(pointer.namespace), "$id": .objectID(pointer.id)]
        case .symbol(let text): .string(text)
        case .javascriptWithScope(let code):
            .javascriptWithScope(
                BSONJavaScriptWithScope(
                    code: code.code, scope: code.scope.replacingDeprecatedTypes()))
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
