import BSONStore

@testable import StitchServer

/// The error that a server answers.
struct ServerRefusal: Error, CustomStringConvertible {
    let reply: BSONDocument

    /// The code of the error, or that of the first write that failed.
    var code: Int? { Self.error(of: reply)?["code"]?.wholeNumber }

    /// The text of the error, or that of the first write that failed.
    var message: String { Self.error(of: reply)?["errmsg"]?.stringValue ?? "" }

    var description: String { reply.extendedJSON() }

    /// The error in a reply, or the first of its writes that failed; `nil` when all was done.
    static func error(of reply: BSONDocument) -> BSONDocument? {
        guard reply["ok"]?.wholeNumber == 1 else { return reply }
        return reply["writeErrors"]?.arrayValue?.first { _ in true }?.documentValue
    }
}
