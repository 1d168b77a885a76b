package import BSONStore

/// Functions that encode answers.
package enum WireEncoder {
    /// Returns the encoded answer in the form of its command.
    ///
    /// - Parameters:
    ///   - requestID: the server's number of the message.
    ///   - flags: the flags of an OP_MSG; an OP_QUERY's answer has none of them.
    ///   - compressor: the compression of the command.
    package static func bytes(
        _ document: BSONDocument, to form: WireRequest.Form, requestID: Int32,
        responseTo: Int32, flags: WireFlags = [], compressor: WireCompressor? = nil
    ) -> [UInt8] {
        let plain =
            switch form {
            case .message: message(document, requestID, responseTo, flags)
            case .query: reply(document, requestID, responseTo)
            }
        guard let compressor, plain.count >= WireCompression.bytesMin,
            let compressed = compressed(plain, compressor, requestID, responseTo, form),
            // An incompressible message is sent as it is.
            compressed.count < plain.count
        else { return plain }
        return compressed
    }

    /// Returns a compressed message; `nil` when the method gets no memory.
    static func compressed(
        _ plain: [UInt8], _ compressor: WireCompressor, _ requestID: Int32, _ responseTo: Int32,
        _ form: WireRequest.Form
    ) -> [UInt8]? {
        guard let content = compressor.compress(Array(plain[WireHeader.byteCount...])) else {
            return nil
        }
        let length = WireHeader.byteCount + WireCompression.byteCount + content.count
        let opcode: WireOpcode =
            switch form {
            case .message: .message
            case .query: .reply
            }
        var bytes = header(length, requestID, responseTo, WireOpcode.compressed.rawValue)
        append(UInt32(bitPattern: opcode.rawValue), to: &bytes)
        append(UInt32(truncatingIfNeeded: plain.count - WireHeader.byteCount), to: &bytes)
        bytes.append(compressor.rawValue)
        bytes.append(contentsOf: content)
        return bytes
    }

    private static func message(
        _ document: BSONDocument, _ requestID: Int32, _ responseTo: Int32, _ flags: WireFlags
    ) -> [UInt8] {
        let length = WireHeader.byteCount + 5 + document.byteCount
        var bytes = header(length, requestID, responseTo, WireOpcode.message.rawValue)
        append(flags.rawValue, to: &bytes)
        bytes.append(0)
        document.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func reply(
        _ document: BSONDocument, _ requestID: Int32, _ responseTo: Int32
    ) -> [UInt8] {
        let length = WireHeader.byteCount + 20 + document.byteCount
        var bytes = header(length, requestID, responseTo, WireOpcode.reply.rawValue)
        // Flag 8 means that the server can wait for data; cursor and offset are 0, and one document
        // follows.
        for number: UInt32 in [8, 0, 0, 0, 1] { append(number, to: &bytes) }
        document.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Returns the bytes of a message's header.
    static func header(
        _ length: Int, _ requestID: Int32, _ responseTo: Int32, _ opcode: Int32
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        append(UInt32(truncatingIfNeeded: length), to: &bytes)
        for number in [requestID, responseTo, opcode] {
            append(UInt32(bitPattern: number), to: &bytes)
        }
        return bytes
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
