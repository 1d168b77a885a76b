#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A time zone: the offset of a place's clocks from UTC at any time.
///
/// Places have the names of the Olson database, which is read from the system's files.
package struct ExpressionTimeZone: Sendable {
    private let rules: ExpressionTimeZoneRules?
    private let fixed: Int
    /// Whether this is UTC itself, not a place or an offset equal to it.
    package let isUTC: Bool

    /// UTC.
    package static let utc = ExpressionTimeZone(rules: nil, fixed: 0, isUTC: true)

    /// Finds a zone by the name of a place, or reads an offset: `+05`, `+0530` or `+05:30`.
    ///
    /// - Throws: 40485 with MongoDB's text for any other name.
    package static func named(_ name: String) throws(StoreError) -> ExpressionTimeZone {
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

    /// The cached zones; their number is bounded by the number of files.
    private static let known = Locked<[String: ExpressionTimeZoneRules]>([:])

    /// Whether the offset is zero at all times.
    var isUniversal: Bool { rules == nil && fixed == 0 }

    /// Whether the offset never changes.
    var isFixed: Bool { rules == nil }

    /// Returns the offset in seconds at a time, given in seconds since 1970.
    func offset(at seconds: Int) -> Int { rules?.offset(at: seconds).seconds ?? fixed }

    /// Returns the local time at a time, in milliseconds.
    package func local(_ milliseconds: Int64) -> Int64 {
        let seconds = CalendarFields.quotient(Int(milliseconds), 1_000)
        let (sum, overflow) = milliseconds.addingReportingOverflow(
            Int64(offset(at: seconds)) * 1_000)
        return overflow ? milliseconds : sum
    }

    /// Returns the time of a local time, both in seconds.
    ///
    /// For a local time that the clocks skip, the earlier offset is used; for one that occurs
    /// twice, the first occurrence.
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

    /// Whether a name can be that of a file inside the database's folder.
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
            name.hasSameBytes(as: $0) || name.hasBytePrefix($0 + "/")
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
