import BSONStore
import Testing

@testable import StitchSync

/// Without the pauses a remote that always has a change would be asked thousands of times a second.
struct SpuriousWakeupsTests {
    private static let items = Namespace("shop", "items")
    private static let backoff = Backoff(initial: .seconds(1), cap: .seconds(60))

    private static func pause(
        afterWakes count: Int, isSpurious: Bool, every interval: Duration
    ) -> Duration? {
        var wakeups = SpuriousWakeups()
        for number in 0..<count {
            let isNew = wakeups.isNew(ResumeToken(["n": .int64(Int64(number))]), of: items)
            wakeups.note(
                items, isSpurious: isSpurious, isNew: isNew, at: interval * number)
        }
        return wakeups.delays(backoff)[items]
    }

    @Test("changes that concern the device have no pause, unless there are very many")
    func busy() {
        let few = SpuriousWakeups.wakesAtOnce
        #expect(Self.pause(afterWakes: few, isSpurious: false, every: .zero) == nil)
        #expect(
            Self.pause(afterWakes: few + 1, isSpurious: false, every: .zero)
                == SpuriousWakeups.busyPause)
        // A stream that is slow enough never has a pause, a faster one after a while.
        #expect(
            Self.pause(afterWakes: few * 5, isSpurious: false, every: .milliseconds(10)) == nil)
        #expect(
            Self.pause(afterWakes: few * 5, isSpurious: false, every: .milliseconds(5))
                == SpuriousWakeups.busyPause)
    }

    @Test("changes that concern nothing here have a growing pause")
    func irrelevant() throws {
        #expect(Self.pause(afterWakes: 10, isSpurious: true, every: .zero) == nil)
        let first = try #require(Self.pause(afterWakes: 11, isSpurious: true, every: .zero))
        let later = try #require(Self.pause(afterWakes: 15, isSpurious: true, every: .zero))
        #expect(first < later)
        #expect(later <= Self.backoff.initial)
    }
}
