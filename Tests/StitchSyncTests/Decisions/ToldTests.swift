import BSONStore
import Testing

@testable import StitchSync

/// The upper bits of a hint say why a look will find nothing.
struct ToldTests {
    @Test("a hint keeps what was told beside its number, and only a missing document asks for it")
    func table() {
        for told in Told.allCases {
            #expect(Told(hint: told.hint(7)) == told)
            #expect(told.hint(7) > 0 && told.hint(7) != told.hint(8))
            #expect(told.read(.found(["_id": 1])) == .found(["_id": 1]))
        }
        for lookup in [RemoteLookup.absent, .hidden] {
            #expect(Told.nothing.read(lookup) == lookup)
            #expect(Told.deleted.read(lookup) == .absent)
            #expect(Told.leftView.read(lookup) == .hidden)
        }
        #expect(Told(hint: 1) == .nothing && Told(hint: 0) == .nothing)
    }
}
