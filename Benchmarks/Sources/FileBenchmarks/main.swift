// FileBenchmarks URI FOLDER up|down FILE
// Carries a large file beside a document over ServerRemote: up sends FILE, down loads it into FILE.
// The connection may break; each side goes on until the file is whole. It prints a line before each
// part, waits for a line on standard input, and at last prints the number of broken connections.
// Scripts/bench-files runs both with a relay that cuts connections, and measures them from outside.

import BSONStore
import Foundation
import StitchRemote
import StitchSync

/// A wrong argument, or a transfer that does not get on.
struct Failure: Error { let reason: String }

/// The number of broken connections after which a transfer is given up.
let breaksMax = 100_000

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 4 else { throw Failure(reason: "usage: URI FOLDER up|down FILE") }
let (folder, direction) = (arguments[1], arguments[2])
let file = URL(filePath: arguments[3])

/// Prints a line and waits for one.
func wait(after line: String) {
    print(line)
    fflush(nil)
    _ = readLine()
}

let engine = try SyncEngine(
    store: try DocumentStore(at: .file("\(folder)/\(direction).stitch")),
    remote: try ServerRemote(arguments[0]))
let films = engine.collection(Namespace("bench", "films"))
await films.configure(conflictHandler: .remoteWins)
var breaks = 0
switch direction {
case "up":
    try await films.insertOne(["_id": 1])
    try await engine.syncUntilQuiet()
    wait(after: "start")
    try await films.attach(contentsOf: file, to: 1, at: "film")
    try await engine.syncUntilQuiet()
    wait(after: "transfer")
    while true {
        let report = try await engine.attachments.transfer()
        if report.sent == 1 { break }
        guard report.error != nil, breaks < breaksMax else {
            throw Failure(reason: "the file was not sent: \(report)")
        }
        breaks += 1
    }
    wait(after: "done \(breaks)")
case "down":
    try await films.sync(ids: [1])
    try await engine.syncUntilQuiet()
    guard let film = try films.findOne(id: 1)?["film"].flatMap({ Attachment(bson: $0) }) else {
        throw Failure(reason: "the document has no file")
    }
    wait(after: "start")
    wait(after: "transfer")
    while true {
        do {
            try await films.file(film, of: 1).download()
            break
        } catch let error as SyncError where error.code == .remoteUnavailable {
            guard breaks < breaksMax else { throw error }
            breaks += 1
        }
    }
    wait(after: "done \(breaks)")
    try await films.file(film, of: 1).copy(to: file)
default: throw Failure(reason: "the direction is up or down")
}
