import BSONStore
import Foundation
import StitchSync

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2 else {
    print("usage: Notes DEVICE write ID TEXT | tag ID TAG | list | sync")
    exit(64)
}

let store = try DocumentStore(at: .file("\(words[0]).stitch"))
let remote = try InProcessRemote(at: .file("remote.stitch"))
let engine = try SyncEngine(store: store, remote: remote)
let notes = engine.collection(Namespace("app", "notes"), of: Note.self)

await notes.configure(
    conflictHandler: Note.conflictHandler,
    errorListener: { error, _ in print("sync: \(error.message)") })

switch (words[1], words.count) {
case ("write", 4):
    try await notes.updateOne(
        ["_id": .string(words[2])],
        ["$set": ["text": .string(words[3])], "$setOnInsert": ["tags": []]], upsert: true)
case ("tag", 4):
    try await notes.updateOne(
        ["_id": .string(words[2])], ["$addToSet": ["tags": .string(words[3])]])
case ("list", 2):
    for note in try notes.find().fetch() {
        print("\(note._id): \(note.text) \(note.tags)")
    }
case ("sync", 2):
    try await notes.subscribe(named: "all notes", waitForSync: .never)
    let (report, _) = try await engine.syncUntilQuiet()
    await engine.flushEvents()
    print("\(report.uploaded) sent, \(report.taken) taken, \(report.conflicts) conflicts")
default:
    print("Notes cannot \(words.dropFirst().joined(separator: " "))")
    exit(64)
}
