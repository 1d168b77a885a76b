internal import BSONStore

/// A request of the console's pages.
struct ConsoleRequest: Sendable {
    let method: String
    /// The path without the query.
    let path: String
    let query: [Name: String]
    /// The headers that the console reads, by their names in small letters.
    let headers: [Name: String]
    var body: [UInt8]
    /// The client's address with its port.
    let peer: String

    func header(_ name: String) -> String? { headers[Name(name)] }

    /// Returns the value of a cookie.
    func cookie(_ name: String) -> String? {
        header("cookie")?.split(atByte: ";").lazy.map { part in
            part.drop { $0 == " " }
        }.first { $0.hasBytePrefix(name + "=") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// Returns the fields of a JSON body.
    ///
    /// - Throws: `ConsoleFault` with status 400 for another body.
    func document() throws(ConsoleFault) -> BSONDocument {
        guard header("content-type")?.hasBytePrefix("application/json") == true else {
            throw ConsoleFault(415, "the body must be application/json")
        }
        do throws(BSONError) {
            return try BSONDocument(extendedJSONBytes: body)
        } catch {
            throw ConsoleFault(400, "the body is no JSON: \(error)")
        }
    }
}

/// The answer to a request of the console's pages.
struct ConsoleAnswer: Sendable {
    static let cookieName = "stitchsync-console"

    var status: Int
    var type: String
    var body: [UInt8]
    /// A cookie to set; an empty one removes it.
    var cookie: String?
    /// The time before which it is not sent, after wrong passwords.
    var notBefore: ContinuousClock.Instant?

    static func json(_ text: String, status: Int = 200) -> ConsoleAnswer {
        ConsoleAnswer(status: status, type: "application/json", body: Array(text.utf8))
    }

    static func json(_ document: BSONDocument, status: Int = 200) -> ConsoleAnswer {
        json(document.extendedJSON(.relaxed), status: status)
    }

    /// Done, without content.
    static let done = ConsoleAnswer(status: 204, type: "text/plain", body: [])
}

/// The refusal of a request of the console's pages.
struct ConsoleFault: Error, Sendable {
    let status: Int
    let code: Int32
    let name: String
    let message: String

    init(_ status: Int, _ message: String) {
        (self.status, code, name, self.message) = (status, 0, "", message)
    }

    /// The failure of a command.
    init(_ failure: CommandFailure) {
        (status, code, name, message) = (422, failure.code, failure.codeName, failure.message)
    }

    var answer: ConsoleAnswer {
        .json(
            [
                "error": [
                    "code": .int32(code), "name": .string(name), "message": .string(message),
                ]
            ], status: status)
    }
}
