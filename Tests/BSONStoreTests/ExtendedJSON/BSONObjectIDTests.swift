import BSONStore
import Testing

/// Without these, two documents could get the same id, or an id could change in its text.
@Suite struct BSONObjectIDTests {
    @Test("ids made at once on many tasks are all different")
    func unique() async {
        let all = await withTaskGroup(of: [BSONObjectID].self) { group in
            for _ in 0..<8 { group.addTask { (0..<2_000).map { _ in BSONObjectID() } } }
            return await group.reduce(into: Set<BSONObjectID>()) { $0.formUnion($1) }
        }
        #expect(all.count == 16_000)
    }

    @Test("an id holds its moment, and one process its random part")
    func parts() {
        let one = BSONObjectID(timestampSeconds: 0xFFFF_FFFE)
        let two = BSONObjectID(timestampSeconds: 1)
        #expect(one.timestampSeconds == 0xFFFF_FFFE)
        #expect(two.bytes[0..<4] == [0, 0, 0, 1])
        #expect(one.bytes[4..<9] == two.bytes[4..<9])
        #expect(one.bytes[9...] != two.bytes[9...])
    }

    @Test("hexadecimal text of either case reads back, in lower case")
    func text() throws {
        let id = try BSONObjectID("5F3C8a2e1b4d6c7890abcdef")
        #expect(id.hex == "5f3c8a2e1b4d6c7890abcdef")
        #expect(id.description == id.hex)
        #expect(BSONObjectID(bytes: id.bytes) == id)
    }

    @Test(
        "other texts are refused",
        arguments: [
            "", "5f3c8a2e1b4d6c7890abcde", "5f3c8a2e1b4d6c7890abcdef0", "5f3c8a2e1b4d6c7890abcdeg",
            " f3c8a2e1b4d6c7890abcdef", "５f3c8a2e1b4d6c7890abcdef",
        ])
    func malformed(text: String) {
        let error = #expect(throws: BSONError.self) { try BSONObjectID(text) }
        #expect(error?.code == .invalidObjectID)
    }

    @Test("ids order by their bytes")
    func order() throws {
        let ids = try [
            "000000000000000000000000", "0000000000000000000000ff",
            "00000000000000ff00000000", "ff0000000000000000000000",
        ].map { try BSONObjectID($0) }
        #expect(ids.shuffled().sorted() == ids)
    }
}
