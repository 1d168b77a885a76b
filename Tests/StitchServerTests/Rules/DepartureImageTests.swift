import BSONStore
import TestProcesses
import Testing

/// A stream that requires the documents before changes must not end where one leaves the user's view.
@Suite(.timeLimit(.minutes(60))) struct DepartureImageTests {
    @Test(
        "A document that leaves the view or is deleted is shown as it was",
        arguments: ["required", "whenAvailable"])
    func departures(images: String) async throws {
        var events: [[BSONDocument]] = []
        for place in RuledWorld.Place.allCases {
            let seen = try await place.lend { ports in
                try await BlockingThread.run {
                    let root = try RuledWorld.prepare(ports[0])
                    try root.run([
                        "collMod": "items", "changeStreamPreAndPostImages": ["enabled": true],
                    ])
                    let users = try ["ann", "fay"].map { try RuledWorld.client(ports[0], $0) }
                    let streams = try users.map {
                        try ServerStream($0, ["fullDocumentBeforeChange": .string(images)])
                    }
                    try root.update("other", ["$set": ["tenant": "b"]])
                    try root.run([
                        "delete": "items", "deletes": [["q": ["_id": "fixed"], "limit": 1]],
                    ])
                    return try streams.flatMap { stream in
                        try (0..<2).map { _ in
                            var event = TwinAnswers.alike(try stream.next())
                            event.removeValue(forKey: "_id")
                            return event
                        }
                    }
                }
            }
            events.append(seen)
        }
        #expect(events[0] == events[1])
        for (event, title) in zip(events[1], ["two", "three", "two", "three"]) {
            let before = event["fullDocumentBeforeChange"]?.documentValue
            #expect(event["operationType"] == "delete" && before?["title"] == .string(title))
            #expect((event["leftView"] == true) == (title == "two"))
        }
        #expect(!events[1][2].extendedJSON().contains("salary"), "fay does not see it")
    }
}
