#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Knows how far a place's clocks are ahead of UTC at any time.
///
/// Places are named as in the Olson database, which is read from the system's files.
struct ExpressionTimeZone: Sendable {
    private let rules: ExpressionTimeZoneRules?
    private let fixed: Int
    /// Whether it is UTC itself, not a place or an offset that agrees with it.
    let isUTC: Bool

    /// UTC.
    static let utc = ExpressionTimeZone(rules: nil, fixed: 0, isUTC: true)

    /// Finds a zone by the name of a place, or reads an offset: `+05`, `+0530` or `+05:30`.
    ///
    /// - Throws: 40485 with MongoDB's text for what is neither.
    static func named(_ name: String) throws(StoreError) -> ExpressionTimeZone {
        if name == "UTC" { return .utc }
        if let offset = offset(name) {
            return ExpressionTimeZone(rules: nil, fixed: offset, isUTC: false)
        }
        if let rules = known.withLock({ $0[name] }) {
            return ExpressionTimeZone(rules: rules, fixed: 0, isUTC: false)
        }
        guard isPlace(name), let rules = ExpressionTimeZoneRules(file(name)) else {
            throw .location(40485, "unrecognized time zone identifier: \"\(name)\"")
        }
        known.withLock { $0[name] = rules }
        return ExpressionTimeZone(rules: rules, fixed: 0, isUTC: false)
    }

    /// The zones that were read; there are only as many as there are files.
    private static let known = Locked<[String: ExpressionTimeZoneRules]>([:])

    /// Whether clocks never change.
    var isFixed: Bool { rules == nil }

    /// The seconds that clocks are ahead at a time, given in seconds since 1970.
    func offset(at seconds: Int) -> Int { rules?.offset(at: seconds).seconds ?? fixed }

    /// What clocks show at a time, in milliseconds.
    func local(_ milliseconds: Int64) -> Int64 {
        let seconds = CalendarFields.quotient(Int(milliseconds), 1_000)
        let (sum, overflow) = milliseconds.addingReportingOverflow(
            Int64(offset(at: seconds)) * 1_000)
        return overflow ? milliseconds : sum
    }

    /// The time at which clocks show a local one, both in seconds.
    ///
    /// In the hour that clocks leave out, the offset before it counts; in the hour that they show
    /// twice, the first time.
    func universal(_ local: Int) -> Int {
        guard let rules else { return local - fixed }
        let current = rules.offset(at: local).seconds
        let (after, since) = rules.offset(at: local - current)
        guard current != after, let since else { return local - after }
        let isBetween = local - after >= since + current - after && local - after < since
        return local - (isBetween ? current : after)
    }

    private static func offset(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return nil
        }
        var digits = Array(bytes.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard [2, 4].contains(digits.count), bytes.count != 6 || digits.count == 4,
            digits.allSatisfy(ExtendedJSONCharacters.isDigit)
        else { return nil }
        let numbers = digits.map { Int($0 - UInt8(ascii: "0")) }
        let hours = numbers[0] * 10 + numbers[1]
        let minutes = numbers.count == 4 ? numbers[2] * 10 + numbers[3] : 0
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }

    /// Whether a name can be that of a file below the database's folder.
    private static func isPlace(_ name: String) -> Bool {
        guard name.utf8.count <= 64, let first = name.utf8.first, first != UInt8(ascii: "/"),
            name.utf8.allSatisfy({ byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "_+-/".utf8.contains(byte)
                }
            })
        else { return false }
        return !["posix", "right", "localtime", "posixrules", "Factory"].contains {
            name == $0 || name.hasPrefix($0 + "/")
        }
    }

    private static func file(_ name: String) -> [UInt8] {
        guard let file = fopen("/usr/share/zoneinfo/" + name, "rb") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: ExpressionTimeZoneRules.bytesMax)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
