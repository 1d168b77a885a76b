import BSONStore

/// A document whose fields live queries filter and sort by.
struct LiveTask: TypedDocument, Equatable, Identifiable {
    var id: Int
    var name = "task"
    var complexity: Int
    var done = false

    enum CodingKeys: String, CodingKey { case id = "_id", name, complexity, done }

    struct Fields: Sendable {
        let id = Field<Int>("_id")
        let name = Field<String>("name")
        let complexity = Field<Int>("complexity")
        let done = Field<Bool>("done")
    }
    static var fields: Fields { Fields() }

    static let namespace = Namespace("app", "tasks")

    static func collection() throws -> DocumentCollection<LiveTask> {
        try DocumentStore(at: .inMemory).collection(namespace, of: LiveTask.self)
    }
}
