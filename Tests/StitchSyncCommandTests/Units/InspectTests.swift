import BSONStore
import StitchSync
import Testing

@testable import StitchSyncCommand

/// Without these a document could break out of a report, or a bar of its timeline out of the picture.
struct InspectTests {
    @Test func `texts of others are escaped in every place of a page`() {
        let text = "<b a='1' b=\"2\">&\u{0}\u{202E}"
        let piece: HTML = "<p title=\"\(text)\">\(text)</p>"
        let escaped = "&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;\\u{0}\\u{202e}"
        #expect(piece.markup == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test func `passes at the same time share a bar, and none leaves the picture`() {
        var report = SyncPassReport()
        report.uploaded = 3
        let passes = [0, 0, 500_000, 1_000_000].map { time in
            JournaledPass(time: BSONDatetime(milliseconds: time), report: report)
        }
        let bars = Timeline(passes: passes).bars(Timeline.lanes[0])
        #expect(bars.map(\.count) == [6, 3, 3])
        #expect(bars.map(\.place) == [0, 30, 59])
        #expect(Timeline(passes: passes).bars(Timeline.lanes[2]).isEmpty)
        #expect(Timeline(passes: [passes[0]]).bars(Timeline.lanes[0]).map(\.place) == [0])
    }

    @Test func `embedded documents are compared field by field, arrays as a whole`() {
        let base: BSONDocument = ["_id": 1, "a": ["b": 1, "c": [1, 2]], "d": 1]
        let local: BSONDocument = ["_id": 1, "a": ["b": 2, "c": [1, 2]], "d": ["e": 1]]
        let lines = EditionLine.lines(base: base, local: local, remote: .some(nil))
        #expect(lines.map(\.path) == ["_id", "a.b", "a.c", "d"])
        #expect(lines.map { $0.differs(hasRemote: false) } == [false, true, false, true])
        #expect(lines.allSatisfy { $0.differs(hasRemote: true) })
    }
}
