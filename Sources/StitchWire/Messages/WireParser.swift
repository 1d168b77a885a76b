internal import BSONStore

/// A parser of client messages.
///
/// It checks every length before use and every document completely. No input makes it trap.
package struct WireParser: Sendable {
    /// The limits of messages.
    package let limits: WireLimits

    /// Makes a parser with limits.
    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// Returns the size of the message that begins with these bytes; `nil` when they are too few.
    ///
    /// - Throws: for an impossible length or an unknown kind of message.
    package func messageLength(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) -> Int? {
        guard bytes.count >= 4 else { return nil }
        let length = Int32(littleEndian: bytes.loadUnaligned(as: Int32.self))
        guard length > WireHeader.byteCount, Int(length) <= limits.messageBytesMax else {
            throw .length(length)
        }
        guard let header = WireHeader(bytes) else { return Int(length) }
        guard let opcode = WireOpcode(rawValue: header.opcode), opcode != .reply else {
            throw .opcode(header.opcode)
        }
        return Int(length)
    }

    /// Parses a complete message.
    ///
    /// - Throws: `WireError` for an invalid message; `WireContentError` for an invalid section or
    ///   document in it, which the server can answer.
    package func parse(_ bytes: UnsafeRawBufferPointer) throws -> WireRequest {
        guard let header = WireHeader(bytes), Int(header.length) == bytes.count else {
            throw WireError.malformed("the length is not that of the bytes")
        }
        switch WireOpcode(rawValue: header.opcode) {
        case .message: return try message(header, bytes)
        case .query: return try query(header, bytes)
        case .compressed: return try compressed(header, bytes)
        case .reply, nil: throw WireError.opcode(header.opcode)
        }
    }

    private func compressed(
        _ header: WireHeader, _ bytes: UnsafeRawBufferPointer
    ) throws -> WireRequest {
        guard let compression = try WireCompression(bytes, limits) else {
            throw WireError.opcode(header.opcode)
        }
        let start = WireHeader.byteCount + WireCompression.byteCount
        let expanded = try compression.compressor.expand(
            UnsafeRawBufferPointer(rebasing: bytes[start...]), count: compression.expandedCount)
        // Restores the message as it was before compression.
        var message = WireEncoder.header(
            WireHeader.byteCount + expanded.count, header.requestID, header.responseTo,
            compression.opcode)
        message.append(contentsOf: expanded)
        var request = try message.withUnsafeBytes { try parse($0) }
        request.compressor = compression.compressor
        return request
    }

    private func query(
        _ header: WireHeader, _ bytes: UnsafeRawBufferPointer
    ) throws -> WireRequest {
        var reader = WireReader(bytes, from: WireHeader.byteCount)
        _ = try reader.uint32()
        let collection = try reader.cString()
        _ = try reader.uint32()
        _ = try reader.uint32()
        let form = WireRequest.Form.query(collection: collection)
        var body = try document(&reader, header, form)
        if !reader.isAtEnd { _ = try document(&reader, header, form) }
        guard reader.isAtEnd else { throw WireError.malformed("bytes behind the query") }
        if let inner = (body["$query"] ?? body["query"])?.documentValue { body = inner }
        if body["$db"] == nil, let parts = collection.splitAtFirstDot {
            body.append("$db", .string(parts.head))
        }
        return WireRequest(requestID: header.requestID, form: form, body: body)
    }

    private func message(
        _ header: WireHeader, _ bytes: UnsafeRawBufferPointer
    ) throws -> WireRequest {
        var reader = WireReader(bytes, from: WireHeader.byteCount)
        let flags = WireFlags(rawValue: try reader.uint32())
        guard flags.unknownRequired == 0 else { throw WireError.flags(flags.rawValue) }
        if flags.contains(.checksumPresent) { try check(bytes, &reader) }
        func refusal(_ code: Int32, _ message: String) -> WireContentError {
            WireContentError(
                requestID: header.requestID, form: .message(flags), code: code, message: message)
        }
        var body: BSONDocument?
        var sequences: [WireRequest.Sequence] = []
        while !reader.isAtEnd {
            switch try reader.byte() {
            case 0:
                guard body == nil else {
                    throw refusal(40430, "Multiple body sections in message")
                }
                body = try document(&reader, header, .message(flags))
            case 1:
                let next = try sequence(&reader, header, flags)
                guard !sequences.contains(where: { $0.field.hasSameBytes(as: next.field) }) else {
                    throw refusal(40431, "Duplicate document sequence: \(next.field)")
                }
                sequences.append(next)
            case let kind: throw refusal(40432, "Unknown section kind \(kind)")
            }
        }
        guard let body else { throw refusal(40587, "OP_MSG messages must have a body") }
        return WireRequest(
            requestID: header.requestID, form: .message(flags), body: body,
            sequences: sequences)
    }

    private func check(
        _ bytes: UnsafeRawBufferPointer, _ reader: inout WireReader
    ) throws(WireError) {
        let sum = try reader.dropLast4()
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 4)])
        guard sum == CRC32C.checksum(content) else { throw .checksum }
    }

    private func sequence(
        _ reader: inout WireReader, _ header: WireHeader, _ flags: WireFlags
    ) throws -> WireRequest.Sequence {
        let start = reader.at
        let size = Int(Int32(bitPattern: try reader.uint32()))
        guard size >= 5, size <= reader.end - start else {
            throw WireError.malformed("a section's size")
        }
        var part = WireReader(reader.bytes, from: reader.at, to: start + size)
        let field = try part.cString()
        var documents = BSONDocumentBatch()
        while !part.isAtEnd {
            let bytes = try part.document()
            try check(header, .message(flags)) { (limits) throws(BSONError) in
                try BSONValidator.validate(bytes, limits: limits)
            }
            documents.append(bytes)
        }
        reader.skip(to: start + size)
        return WireRequest.Sequence(field: field, documents: documents.finish())
    }

    private func document(
        _ reader: inout WireReader, _ header: WireHeader, _ form: WireRequest.Form
    ) throws -> BSONDocument {
        let bytes = try reader.document()
        return try check(header, form) { (limits) throws(BSONError) in
            try BSONDocument(validating: bytes, limits: limits)
        }
    }

    /// Runs a check of a document of the message.
    ///
    /// - Throws: `WireContentError` for an invalid document.
    private func check<R>(
        _ header: WireHeader, _ form: WireRequest.Form,
        _ body: (BSONLimits) throws(BSONError) -> R
    ) throws -> R {
        do throws(BSONError) {
            return try body(
                BSONLimits(depthMax: limits.depthMax, documentBytesMax: limits.documentBytesMax))
        } catch {
            throw WireContentError(
                requestID: header.requestID, form: form,
                code: (error.code == .tooDeep ? StoreError.Code.overflow : .invalidBSON).rawValue,
                message: error.message)
        }
    }
}

/// An invalid section or document in a message; later messages can still be read.
///
/// Source: MongoDB's `op_msg.cpp`, for the codes and texts.
package struct WireContentError: Error, Sendable, Hashable {
    /// The client's number of the message.
    package let requestID: Int32
    /// The kind of message, which determines the form of the answer.
    package let form: WireRequest.Form
    /// The error code of the answer.
    package let code: Int32
    /// The text of the answer.
    package let message: String
}
