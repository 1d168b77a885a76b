#if MongoRemote
    import BSONStore
    import StitchMongo
    import StitchSync
    import TestProcesses
    import Testing

    /// A device must get each byte of a file back, and must continue where a connection ended.
    @Suite(.timeLimit(.minutes(30))) struct MongoAttachmentTests {
        private static let todos = Namespace("app", "todos")

        @Test func `GridFS keeps a file that is sent in pieces`() async throws {
            try await ServerProcess.run { process in
                let bytes = (0..<(AttachmentPieces.sizeMax + 100_000)).map {
                    UInt8(truncatingIfNeeded: $0 / 3)
                }
                let photo = BSONStore.Attachment(
                    id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count))
                let port = process.port
                let isInserted = try await BlockingThread.run {
                    let command: BSONDocument = [
                        "insert": "todos", "$db": "app",
                        "documents": [["_id": 1, "photo": photo.bsonValue]],
                    ]
                    let answer = WireClient(port: port)?.run(command, within: .seconds(120))
                    if case .reply(let reply)? = answer { return reply["n"] == 1 }
                    return false
                }
                #expect(isInserted)
                let remote = try MongoRemote(
                    uri: "mongodb://127.0.0.1:\(process.port)/?serverSelectionTimeoutMS=240000"
                        + "&directConnection=true&socketTimeoutMS=240000")
                let files = try #require(remote.attachments)
                let place = AttachmentPlace(Self.todos, documentID: 1, photo)
                let missing = AttachmentPlace(Self.todos, documentID: 2, photo)
                let split = AttachmentPieces.sizeMax
                #expect(try await files.state(of: place) == .partial(0))
                #expect(try await files.state(of: missing) == .unknown)
                let first = try await files.put(Array(bytes[..<split]), at: 0, of: place)
                #expect(first == .partial(Int64(split)))
                #expect(try await files.read(place, from: 0, count: 10) == nil)
                let last = try await files.put(
                    Array(bytes[split...]), at: Int64(split), of: place)
                #expect(last == .complete)
                let begin = try await files.read(place, from: 0, count: split)
                let end = try await files.read(place, from: Int64(split), count: split)
                #expect((begin ?? []) + (end ?? []) == bytes)
                await remote.close()
            }
        }
    }
#endif
