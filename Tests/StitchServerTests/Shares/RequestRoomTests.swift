import Testing

@testable import StitchServer

/// Without these the requests of one user that wait would fill the memory, or the room of all others.
@Suite struct RequestRoomTests {
    private static let kibibyte = 1024

    private static func owner(_ name: String) -> [UInt8] { Array(name.utf8) }

    /// Takes places until there are no more.
    private static func fill(_ room: RequestRoom, _ bytes: Int, _ name: String) -> [RequestPlace] {
        var places: [RequestPlace] = []
        while let place = room.place(for: bytes, of: owner(name)) { places.append(place) }
        return places
    }

    @Test("An owner takes half of the room, the next one half of the rest")
    func halves() {
        let room = RequestRoom(bytesMax: 800 * Self.kibibyte)
        var all: [RequestPlace] = []
        for (name, count) in [("a", 4), ("b", 2), ("c", 1)] {
            let places = Self.fill(room, 100 * Self.kibibyte, name)
            #expect(places.count == count, "\(name)")
            all += places
        }
        #expect(room.bytes == 700 * Self.kibibyte)
        // A smaller request still has room.
        #expect(room.place(for: 40 * Self.kibibyte, of: Self.owner("d")) != nil)
        withExtendedLifetime(all) {}
    }

    @Test("Small requests do not count")
    func small() {
        let room = RequestRoom(bytesMax: 100 * Self.kibibyte)
        let places = (0..<1_000).compactMap { _ in
            room.place(for: RequestRoom.smallBytes, of: Self.owner("a"))
        }
        #expect(places.count == 1_000 && room.bytes == 0)
        #expect(room.place(for: 200 * Self.kibibyte, of: Self.owner("a")) == nil)
    }

    @Test("A place is given back once, when its request leaves or is dropped")
    func givenBack() throws {
        let room = RequestRoom(bytesMax: 400 * Self.kibibyte)
        do {
            let place = try #require(room.place(for: 200 * Self.kibibyte, of: Self.owner("a")))
            #expect(room.place(for: 200 * Self.kibibyte, of: Self.owner("a")) == nil)
            place.leave()
            place.leave()
            #expect(room.bytes == 0)
        }
        #expect(room.bytes == 0)
        var dropped = room.place(for: 200 * Self.kibibyte, of: Self.owner("a"))
        #expect(dropped != nil && room.bytes == 200 * Self.kibibyte)
        dropped = nil
        #expect(dropped == nil && room.bytes == 0)
        #expect(Self.fill(room, 200 * Self.kibibyte, "a").count == 1)
    }
}
