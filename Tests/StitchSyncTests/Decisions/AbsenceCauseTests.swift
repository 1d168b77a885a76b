import BSONStore
import Testing

@testable import StitchSync

/// The upper bits of a stale mark name the cause why a fetch will find nothing.
struct AbsenceCauseTests {
    @Test(
        "a stale mark keeps the cause and its number, and only a missing document uses the cause"
    )
    func table() {
        for told in AbsenceCause.allCases {
            #expect(AbsenceCause(staleMark: told.staleMark(7)) == told)
            #expect(told.staleMark(7) > 0 && told.staleMark(7) != told.staleMark(8))
            #expect(told.read(.found(["_id": 1])) == .found(["_id": 1]))
        }
        for lookup in [RemoteLookup.absent, .hidden] {
            #expect(AbsenceCause.nothing.read(lookup) == lookup)
            #expect(AbsenceCause.deleted.read(lookup) == .absent)
            #expect(AbsenceCause.leftView.read(lookup) == .hidden)
        }
        #expect(AbsenceCause(staleMark: 1) == .nothing && AbsenceCause(staleMark: 0) == .nothing)
    }
}
