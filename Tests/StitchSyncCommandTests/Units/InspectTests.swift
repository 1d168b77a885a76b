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

    @Test func `of many passes the newest have a row each, and the rest are summed`() {
        var report = SyncPassReport()
        report.uploaded = 1
        func rows(_ count: Int, every pause: Int64) -> [PassGroup] {
            PassGroup.groups(
                of: (0..<count).map { index in
                    JournaledPass(
                        time: BSONDatetime(milliseconds: Int64(index) * pause), report: report)
                })
        }
        #expect(rows(5, every: 60_000).map(\.passes.count) == [1, 1, 1, 1, 1])
        #expect(rows(200, every: 60_000).count <= 15)
        #expect(rows(200, every: 3_600_000).count <= 20)
        for pause in [1, 60_000, 3_600_000] as [Int64] {
            let groups = rows(200, every: pause)
            #expect(groups.reduce(0) { $0 + $1.count(Timeline.lanes[0]) } == 200)
            #expect(groups.first?.passes.first?.time.milliseconds == 199 * pause)
        }
    }

    @Test func `a conflict shows the fields that differ, also those of the result only`() throws {
        let shared: BSONDocument = [
            "namespace": "app.todos", "documentID": 1, "time": .datetime(.now),
            "base": ["_id": 1, "a": 1, "b": 1], "local": ["_id": 1, "a": 2, "b": 1],
            "remote": ["_id": 1, "a": 1, "b": 3],
            "decision": "use", "result": ["_id": 1, "a": 2, "b": 3, "c": 4],
        ]
        let conflict = try #require(try JournaledConflict(shared: shared))
        let comparison = ConflictComparison(conflict: conflict)
        #expect(comparison.lines.map(\.path) == ["a", "b", "c"])
        let marks = comparison.lines.map { comparison.cells(of: $0).map(\.isMarked) }
        #expect(
            marks == [
                [false, true, false, true], [false, false, true, true],
                [false, false, false, true],
            ])
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
