import BSONStore
import StitchWire
import Testing

@testable import StitchServer

/// Without these a console that nobody looks at stays open, for whoever comes by.
@Suite struct ConsoleSessionTests {
    private static func connection(_ number: Int32 = 1) -> ClientConnection {
        ClientConnection(id: number, peer: "127.0.0.1:1", local: "localhost:1")
    }

    @Test func `a session ends without use, and requests of a page alone are none`() {
        let start = ContinuousClock.now
        let now = Locked(start)
        let sessions = ConsoleSessions(ended: { _ in }, now: { now.withLock { $0 } })
        let session = ConsoleSession(Self.connection(), at: start)
        sessions.add(session)
        for minute in 1...30 {
            now.withLock { $0 = start + .seconds(60 * minute) }
            #expect(sessions.session(session.id, isUse: false) === session)
            session.connection.state.withLock { $0.lastUsed = .now }
        }
        now.withLock { $0 = start + .seconds(1_801) }
        #expect(sessions.session(session.id, isUse: false) == nil)
        #expect(!sessions.holds(session))
    }

    @Test func `a use keeps a session, and a further one ends that of the oldest use`() {
        let start = ContinuousClock.now
        let now = Locked(start)
        let ended = Locked<[Int32]>([])
        let sessions = ConsoleSessions(
            ended: { session in ended.withLock { $0.append(session.connection.id) } },
            now: { now.withLock { $0 } })
        let all = (0..<Int32(ConsoleSessions.countMax)).map {
            ConsoleSession(Self.connection($0), at: start)
        }
        for session in all { sessions.add(session) }
        now.withLock { $0 = start + .seconds(1_000) }
        for session in all where session.connection.id != 5 {
            #expect(sessions.session(session.id, isUse: true) === session)
        }
        sessions.add(ConsoleSession(Self.connection(100), at: start + .seconds(1_000)))
        #expect(ended.withLock { $0 } == [5])
        now.withLock { $0 = start + .seconds(2_000) }
        #expect(sessions.holds(all[0]))
        #expect(!sessions.holds(all[5]))
    }

    @Test func `strangers, and all browsers together, send no more than there is room`() {
        let room = ConsoleBodies()
        var stranger = ArrivingBody(in: room, isOfStranger: true)
        stranger.add(Array(repeating: 0, count: ConsoleBodies.bytesOfStrangerMax))
        #expect(stranger.fault == nil && room.byteCount == ConsoleBodies.bytesOfStrangerMax)
        stranger.add([1])
        #expect(stranger.fault?.status == 401 && room.byteCount == 0)
        stranger.add([1])
        stranger.giveBack()
        #expect(stranger.bytes.isEmpty && room.byteCount == 0)
        let large = Array(repeating: 0 as UInt8, count: ConsoleBodies.bytesMax)
        var bodies = (0..<3).map { _ in ArrivingBody(in: room, isOfStranger: false) }
        for index in bodies.indices { bodies[index].add(large) }
        #expect(bodies.map(\.fault?.status) == [nil, nil, 503])
        bodies[0].add([1])
        #expect(bodies[0].fault?.status == 413 && room.byteCount == ConsoleBodies.bytesMax)
        bodies[1].giveBack()
        #expect(room.byteCount == 0)
    }

    @Test func `a slow write of a driver is kept with the fields of its filter`() {
        let commands = SlowCommands()
        let request = WireRequest(
            requestID: 1, form: .message([]), body: ["update": "c", "$db": "d"],
            sequences: [
                WireRequest.Sequence(
                    field: "updates", documents: [["q": ["owner": 1], "u": ["$set": ["a": 1]]]])
            ])
        commands.note(request, took: .seconds(1), Self.connection())
        #expect(commands.all.first?["fields"] == ["owner"])
    }

    @Test func `a denied write with a long id is not one of the id null`() {
        #expect(Console.denial(["collection": "a.b"])["hasLongID"] == true)
        #expect(Console.denial(["collection": "a.b", "documentID": .null])["hasLongID"] == false)
    }
}
