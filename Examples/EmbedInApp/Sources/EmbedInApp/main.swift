// An app outside of the package: it may use only what the two products make public.
import BSONStore
import StitchSync

struct Todo: Codable {
    // swift-format-ignore: NoLeadingUnderscores
    var _id: Int
    var task: String
    var done = false
}

let store = try DocumentStore(at: .inMemory)  // .file("phone.stitch") in an app
let remote = try InProcessRemote(at: .inMemory)  // ServerRemote("stitchsync://…") in an app
let engine = try SyncEngine(store: store, remote: remote)
let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)

await todos.configure(
    conflictHandler: ConflictHandler { conflict in  // has base, local and remote
        guard var todo = conflict.local else { return .useRemote }  // deleted here, edited there
        guard let theirs = conflict.remote else { return .useLocal }  // edited here, deleted there
        todo.done = todo.done || theirs.done
        return .use(todo)
    },
    changeEventListener: { event in print("\(event.reason): \(event.documentID)") },
    errorListener: { error, documentID in print("sync: \(error)") })

try await todos.insertOne(Todo(_id: 1, task: "Buy milk"))  // works offline
try await todos.updateOne(["_id": 1], ["$set": ["done": true]])
try await engine.syncUntilQuiet()  // or engine.run(), all the time
print(try todos.find(["done": true]).fetch().map(\.task))

// What the script that builds this looks for: the remote has the document and its version.
let arrived = try remote.store.read { try $0.get(Namespace("app", "todos"), id: 1) }
guard arrived?["done"] == true, arrived?[DocumentVersion.fieldName] != nil else {
    fatalError("the remote holds \(String(describing: arrived))")
}
await engine.flushEvents()
print("embedded")
