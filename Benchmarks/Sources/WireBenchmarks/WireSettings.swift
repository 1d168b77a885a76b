import BSONStore

/// The subject of a run, from the URI, the folder, the server's process number and `key=value`
/// arguments.
struct WireSettings {
    /// The server.
    let uri: String
    /// The folder of the devices' files.
    let folder: String
    /// The number of the server's process, for its CPU time.
    let server: Int
    /// The number of documents.
    var count = 10_000
    /// The size of a document in bytes, about.
    var size = 250
    /// The number of single changes.
    var changes = 500
    var rounds = 3
    /// The size of the file beside a document, in MB.
    var fileMB = 100
    /// The rows to measure beside upload and download, which the others need.
    var rows = Self.choices

    /// The rows that may be left out.
    private static let choices = ["subscribed", "merge", "file", "one", "stream"]

    struct Wrong: Error { let argument: String }

    init(_ arguments: some Collection<String>) throws {
        let given = Array(arguments)
        guard given.count >= 3, let server = Int(given[2]) else {
            throw Wrong(argument: given.joined(separator: " "))
        }
        (uri, folder, self.server) = (given[0], given[1], server)
        for argument in given.dropFirst(3) {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last.flatMap(Int.init)) {
            case ("n", let number?): count = number
            case ("size", let number?): size = number
            case ("changes", let number?): changes = number
            case ("rounds", let number?): rounds = number
            case ("file", let number?): fileMB = number
            case ("rows", _):
                rows = parts.last?.split(separator: ",").map(String.init) ?? []
                guard rows.allSatisfy(Self.choices.contains) else {
                    throw Wrong(argument: argument)
                }
            default: throw Wrong(argument: argument)
            }
        }
    }

    /// A document of eight fields.
    func document(_ number: Int) -> BSONDocument {
        let text = String(
            decoding: (0..<max(1, size - 150)).map { _ in UInt8.random(in: 97...122) },
            as: UTF8.self)
        return [
            "_id": .objectID(BSONObjectID()), "number": .int32(Int32(number)),
            "owner": .string("user-\(number % 100)"), "text": .string(text),
            "created": .datetime(BSONDatetime(milliseconds: 1_700_000_000_000 + Int64(number))),
            "score": .double(Double(number) / 7), "n": 0, "done": false,
        ]
    }
}
