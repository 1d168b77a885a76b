internal import BSONStore

/// Keeps of a command's answer what `getLastError` tells.
struct LastCommandResult: Sendable {
    /// How many documents were written.
    let count: BSONValue
    /// Whether an update found a document; `nil` for other commands.
    let updatedExisting: Bool?
    /// The `_id` of a document that an update inserted.
    let upserted: BSONValue?
    /// What went wrong.
    let message: BSONValue?
    /// The error's number.
    let code: BSONValue?
    /// The error's name.
    let codeName: BSONValue?

    /// Takes a command's answer.
    init(_ reply: BSONDocument) {
        let isWrite = reply["nModified"] != nil
        let last = reply["lastErrorObject"]?.documentValue
        let firstUpsert = reply["upserted"]?.arrayValue?.values.first?.documentValue?["_id"]
        let count: BSONValue = last?["n"] ?? reply["n"] ?? 0
        self.count = count
        upserted = last?["upserted"] ?? firstUpsert
        let found = (count.int64Value ?? 0) > 0 && upserted == nil
        updatedExisting = last?["updatedExisting"]?.boolValue ?? (isWrite ? found : nil)
        // Of several refused writes the last one is told.
        let refused = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).last
        let error = refused ?? (reply["errmsg"] == nil ? nil : reply)
        message = error?["errmsg"]
        code = error?["code"]
        codeName = error?["codeName"]
    }

    /// Whether a command is one whose outcome is kept: neither the question itself nor what drivers
    /// ask on their own.
    static func isTold(of name: String) -> Bool {
        !["getlasterror", "hello", "ismaster", "ping"].contains(name.lowercased())
    }
}
