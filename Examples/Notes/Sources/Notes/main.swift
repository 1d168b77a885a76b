import BSONStore
import StitchSync

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2 else { fatalError("usage: Notes DEVICE write|tag|list|sync …") }

let store = try DocumentStore(at: .file("\(words[0]).stitch"))
let remote = try InProcessRemote(at: .file("remote.stitch"))
let engine = try SyncEngine(store: store, remote: remote)
let notes = engine.collection(Namespace("app", "notes"), of: Note.self)

await notes.configure(
    conflictHandler: Note.conflictHandler,
    errorListener: { error, _ in print("sync: \(error.message)") })

switch words[1] {
case "write":
    try await notes.updateOne(
        ["_id": .string(words[2])],
        ["$set": ["text": .string(words[3])], "$setOnInsert": ["tags": []]], upsert: true)
case "tag":
    try await notes.updateOne(
        ["_id": .string(words[2])], ["$addToSet": ["tags": .string(words[3])]])
case "list":
    for note in try await notes.find() {
        print("\(note._id): \(note.text) \(note.tags)")
    }
case "sync":
    try await notes.subscribe(named: "all notes", waitForSync: .never)
    let (report, _) = try await engine.syncUntilQuiet()
    await engine.flushEvents()
    print("\(report.uploaded) sent, \(report.taken) taken, \(report.conflicts) conflicts")
default: fatalError("there is no \(words[1])")
}
