import BSONStore
import Testing

@testable import StitchSync

/// The upper bits of a hint say why a look will find nothing.
struct ToldTests {
    @Test("a hint keeps what was told beside its number, and only a missing document asks for it")
    func table() {
        for told in AbsenceCause.allCases {
            #expect(AbsenceCause(hint: told.hint(7)) == told)
            #expect(told.hint(7) > 0 && told.hint(7) != told.hint(8))
            #expect(told.read(.found(["_id": 1])) == .found(["_id": 1]))
        }
        for lookup in [RemoteLookup.absent, .hidden] {
            #expect(AbsenceCause.nothing.read(lookup) == lookup)
            #expect(AbsenceCause.deleted.read(lookup) == .absent)
            #expect(AbsenceCause.leftView.read(lookup) == .hidden)
        }
        #expect(AbsenceCause(hint: 1) == .nothing && AbsenceCause(hint: 0) == .nothing)
    }
}
