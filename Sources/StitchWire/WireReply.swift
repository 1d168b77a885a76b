package import BSONStore

/// Writes answers.
package enum WireReply {
    /// The bytes of an answer in the form in which the command came.
    ///
    /// - Parameters:
    ///   - requestID: this server's number of the message.
    ///   - flags: of an OP_MSG; a query's answer has none of them.
    package static func bytes(
        _ document: BSONDocument, to form: WireRequest.Form, requestID: Int32,
        responseTo: Int32, flags: WireFlags = []
    ) -> [UInt8] {
        switch form {
        case .message: message(document, requestID, responseTo, flags)
        case .query: reply(document, requestID, responseTo)
        }
    }

    private static func message(
        _ document: BSONDocument, _ requestID: Int32, _ responseTo: Int32, _ flags: WireFlags
    ) -> [UInt8] {
        let length = WireHeader.byteCount + 5 + document.byteCount
        var bytes = header(length, requestID, responseTo, .message)
        append(flags.rawValue, to: &bytes)
        bytes.append(0)
        document.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func reply(
        _ document: BSONDocument, _ requestID: Int32, _ responseTo: Int32
    ) -> [UInt8] {
        let length = WireHeader.byteCount + 20 + document.byteCount
        var bytes = header(length, requestID, responseTo, .reply)
        // The flag 8 says that the server can wait for data; cursor and offset are 0, one document.
        for number: UInt32 in [8, 0, 0, 0, 1] { append(number, to: &bytes) }
        document.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func header(
        _ length: Int, _ requestID: Int32, _ responseTo: Int32, _ opcode: WireOpcode
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        append(UInt32(truncatingIfNeeded: length), to: &bytes)
        for number in [requestID, responseTo, opcode.rawValue] {
            append(UInt32(bitPattern: number), to: &bytes)
        }
        return bytes
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
