import BSONStore
import Testing

@testable import StitchServer

/// Without bounds one address takes all connections and files of a server.
@Suite struct ConnectionRoomTests {
    @Test("Each address has its maximum, and all together theirs")
    func bounds() {
        for (countMax, ofOneMax) in [(1, 1), (4, 2), (10, 3), (5, 9), (0, 0)] {
            var room = ConnectionRoom(countMax: countMax, ofOneMax: ofOneMax)
            var counts = [Int](repeating: 0, count: 8)
            for step in 0..<200 {
                let address = step * 7 % 8
                let hasRoom = counts[address] < room.ofOneMax && room.count < room.countMax
                #expect(room.open([UInt8(address)]) == hasRoom)
                if hasRoom { counts[address] += 1 }
                if step % 3 == 2, let full = counts.firstIndex(where: { $0 > 0 }) {
                    room.close([UInt8(full)])
                    counts[full] -= 1
                }
                #expect(room.count == counts.reduce(0, +))
                #expect(room.addressCount == counts.count { $0 > 0 })
            }
        }
    }

    @Test("Connections leave files for the store")
    func files() {
        #expect(OpenFiles.connectionsMax(10_000, of: 1_024) == 768)
        #expect(OpenFiles.connectionsMax(100, of: 1_024) == 100)
        #expect(OpenFiles.connectionsMax(10_000, of: 100) == 36)
        #expect(OpenFiles.connectionsMax(10_000, of: 10) == 1)
        #expect(OpenFiles.connectionsMax(10_000, of: nil) == 10_000)
        #expect(OpenFiles.connectionsMax(10_000, of: 1_048_576) == 10_000)
    }
}
