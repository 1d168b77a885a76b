import BSONQuery

/// A time zone and the names that people in the United States give it.
struct ScriptTimeZone {
    private let zone: ExpressionTimeZone
    private let names: Names?

    /// The names of a zone of the United States.
    private struct Names {
        let word: String
        let letters: String
        /// The hours between the zone's standard time and UTC.
        let hours: Int
    }

    /// UTC.
    static let utc = ScriptTimeZone(zone: .utc, names: nil)

    private init(zone: ExpressionTimeZone, names: Names?) {
        self.zone = zone
        self.names = names
    }

    /// Finds a zone by the name of a place, such as `America/New_York`; `nil` if it is unknown.
    init?(_ name: String) {
        if ["UTC", "GMT", "Etc/UTC", "Etc/GMT"].contains(where: { $0.hasSameBytes(as: name) }) {
            self = .utc
            return
        }
        do throws(StoreError) {
            zone = try ExpressionTimeZone.named(name)
        } catch {
            return nil
        }
        names = Self.names[name]
    }

    private static let eastern = Names(word: "Eastern", letters: "E", hours: -5)
    private static let central = Names(word: "Central", letters: "C", hours: -6)
    private static let mountain = Names(word: "Mountain", letters: "M", hours: -7)
    private static let pacific = Names(word: "Pacific", letters: "P", hours: -8)
    private static let names = [
        "America/New_York": eastern, "America/Detroit": eastern, "America/Toronto": eastern,
        "America/Chicago": central, "America/Winnipeg": central,
        "America/Denver": mountain, "America/Phoenix": mountain, "America/Boise": mountain,
        "America/Los_Angeles": pacific, "America/Vancouver": pacific,
        "America/Anchorage": Names(word: "Alaska", letters: "AK", hours: -9),
    ]

    /// Returns the time that the zone's clocks show, in milliseconds.
    func local(_ milliseconds: Int64) -> Int64 { zone.local(milliseconds) }

    /// Returns the zone's name at a time; `nil` for a long name that is not known.
    func name(at milliseconds: Int64, isLong: Bool) -> String? {
        if zone.isUTC { return isLong ? "Coordinated Universal Time" : "UTC" }
        let minutes = Int((zone.local(milliseconds) - milliseconds) / 60_000)
        if let names {
            let isStandard = minutes == names.hours * 60
            return isLong
                ? "\(names.word) \(isStandard ? "Standard" : "Daylight") Time"
                : "\(names.letters)\(isStandard ? "S" : "D")T"
        }
        guard !isLong else { return nil }
        guard minutes != 0 else { return "GMT" }
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        let text = "GMT\(minutes < 0 ? "-" : "+")\(hours)"
        return rest == 0 ? text : "\(text):\(rest < 10 ? "0" : "")\(rest)"
    }
}
