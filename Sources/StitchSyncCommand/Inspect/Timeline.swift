import BSONStore
import StitchSync

/// The results of the newest passes over time, as an SVG picture.
struct Timeline: Sendable {
    /// A row of the picture.
    struct Lane: Sendable {
        /// The name, which is also the CSS class of the color.
        let name: String
        /// Returns the lane's count of a pass.
        let count: @Sendable (SyncPassReport) -> Int
    }

    /// A bar: the sum of passes that ended at about the same time.
    struct Bar: Sendable, Equatable {
        let place: Int
        let count: Int
        let first: BSONDatetime
        let last: BSONDatetime
    }

    static let lanes = [
        Lane(name: "sent") { $0.uploaded },
        Lane(name: "received") { $0.taken + $0.removed + $0.evicted },
        Lane(name: "conflicts") { $0.conflicts },
        Lane(name: "stopped") { $0.paused + $0.reverted },
        Lane(name: "errors") { $0.errors.count },
    ]

    private static let places = 60
    private static let placeWidth = 14
    private static let laneHeight = 46
    private static let left = 76
    private static let width = left + places * placeWidth + 12

    let passes: [JournaledPass]

    private var start: Int64 { passes.map(\.time.milliseconds).min() ?? 0 }
    private var end: Int64 { max(passes.map(\.time.milliseconds).max() ?? 0, start + 1000) }

    /// Returns the bars of a lane, from left to right.
    func bars(_ lane: Lane) -> [Bar] {
        var bars: [Int: Bar] = [:]
        for pass in passes {
            let count = lane.count(pass.report)
            guard count > 0 else { continue }
            let part = Double(pass.time.milliseconds - start) / Double(end - start)
            let place = min(Int(part * Double(Self.places)), Self.places - 1)
            let before = bars[place]
            bars[place] = Bar(
                place: place, count: count + (before?.count ?? 0),
                first: min(pass.time, before?.first ?? pass.time),
                last: max(pass.time, before?.last ?? pass.time))
        }
        return bars.values.sorted { $0.place < $1.place }
    }

    /// The picture.
    var svg: HTML {
        let height = Self.lanes.count * Self.laneHeight + 30
        let lanes = Self.lanes.enumerated().map { index, lane in
            drawn(lane, top: index * Self.laneHeight)
        }
        return """
            <svg class="timeline" viewBox="0 0 \(Self.width) \(height)" role="img" \
            aria-label="Results of the newest passes over time">
            \(lanes)\(axis(top: Self.lanes.count * Self.laneHeight))</svg>

            """
    }

    private func drawn(_ lane: Lane, top: Int) -> HTML {
        let bars = bars(lane)
        let most = bars.map(\.count).max() ?? 0
        let bottom = top + Self.laneHeight
        let total = bars.reduce(0) { $0 + $1.count }
        let drawn = bars.map { bar -> HTML in
            let height = Self.height(of: bar.count, most: most)
            let x = Self.left + bar.place * Self.placeWidth
            return """
                <rect class="\(lane.name)" x="\(x + 1)" y="\(bottom - height)" \
                width="\(Self.placeWidth - 2)" height="\(height)" rx="2">\
                <title>\(Self.text(bar, lane))</title></rect>

                """
        }
        return """
            <line class="rule" x1="\(Self.left)" x2="\(Self.width)" y1="\(bottom)" y2="\(bottom)"/>
            <text x="\(Self.left - 8)" y="\(bottom - 18)" text-anchor="end">\(lane.name)</text>
            <text class="faint" x="\(Self.left - 8)" y="\(bottom - 5)" text-anchor="end">\
            \(total)</text>
            \(drawn)
            """
    }

    /// Returns the height of a bar, logarithmic so that small counts stay visible.
    private static func height(of count: Int, most: Int) -> Int {
        guard most > 1 else { return laneHeight / 2 }
        let room = laneHeight - 10
        var (digits, digitsMax) = (0, 0)
        while count >> digits > 0 { digits += 1 }
        while most >> digitsMax > 0 { digitsMax += 1 }
        return max(4, room * digits / digitsMax)
    }

    private static func text(_ bar: Bar, _ lane: Lane) -> String {
        let span = bar.first == bar.last ? bar.first.text : "\(bar.first.text) to \(bar.last.text)"
        return "\(bar.count) \(lane.name), \(span)"
    }

    private func axis(top: Int) -> HTML {
        let middle = BSONDatetime(milliseconds: start + (end - start) / 2)
        let marks: [(x: Int, anchor: String, time: BSONDatetime)] = [
            (Self.left, "start", BSONDatetime(milliseconds: start)),
            ((Self.left + Self.width) / 2, "middle", middle),
            (Self.width - 4, "end", BSONDatetime(milliseconds: end)),
        ]
        let texts = marks.map { mark -> HTML in
            """
            <text class="faint" x="\(mark.x)" y="\(top + 20)" text-anchor="\(mark.anchor)">\
            \(mark.time.text)</text>
            """
        }
        return "\(texts)"
    }
}
