import BSONStore

/// The fields by which commands name a logical session.
struct ServerSession {
    let document: BSONDocument

    init(id: BSONValue) { document = ["id": id] }

    /// Creates a session whose id consists of one byte.
    init(_ byte: UInt8) {
        self.init(id: .binary(BSONBinary(Array(repeating: byte, count: 16), subtype: 4)))
    }

    /// Returns a command as a part of a transaction.
    func transaction(
        _ number: Int64, starts: Bool = false, _ command: BSONDocument
    ) -> BSONDocument {
        var command = retryable(number, command)
        command.append("autocommit", false)
        if starts { command.append("startTransaction", true) }
        return command
    }

    /// Returns a command as a retryable write.
    func retryable(_ number: Int64, _ command: BSONDocument) -> BSONDocument {
        var command = command
        command.append("lsid", .document(document))
        command.append("txnNumber", .int64(number))
        return command
    }
}
