internal import BSONStore

/// The part of a reply that `getLastError` reports.
struct LastCommandResult: Sendable {
    /// The number of written documents.
    let count: BSONValue
    /// Whether an update found a document; `nil` for other commands.
    let updatedExisting: Bool?
    /// The `_id` of a document that an update inserted.
    let upserted: BSONValue?
    /// The error message.
    let message: BSONValue?
    /// The error code.
    let code: BSONValue?
    /// The name of the error code.
    let codeName: BSONValue?

    /// Reads a command's reply.
    init(_ reply: BSONDocument) {
        let isWrite = reply["nModified"] != nil
        let last = reply["lastErrorObject"]?.documentValue
        let firstUpsert = reply["upserted"]?.arrayValue?.values.first?.documentValue?["_id"]
        let count: BSONValue = last?["n"] ?? reply["n"] ?? 0
        self.count = count
        upserted = last?["upserted"] ?? firstUpsert
        let found = (count.int64Value ?? 0) > 0 && upserted == nil
        updatedExisting = last?["updatedExisting"]?.boolValue ?? (isWrite ? found : nil)
        // Of several failed writes, the last one is reported.
        let refused = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).last
        let error = refused ?? (reply["errmsg"] == nil ? nil : reply)
        message = error?["errmsg"]
        code = error?["code"]
        // Entries of `writeErrors` have no name.
        let known = code?.int64Value.flatMap { Int32(exactly: $0) }
        codeName = error?["codeName"] ?? known.map { .string(ErrorNames.name(of: $0)) }
    }

    /// Whether to keep the result of a command: not of `getLastError` itself, nor of commands that
    /// drivers send on their own.
    static func isTold(of name: String) -> Bool {
        !["getlasterror", "hello", "ismaster", "ping"].contains(name.lowercased())
    }
}
