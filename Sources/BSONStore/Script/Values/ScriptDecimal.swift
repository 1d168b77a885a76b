/// A number that is not negative, as its decimal digits.
struct ScriptDecimal {
    private var digits: [UInt8]
    /// The number of digits before the point; negative if zeros follow it.
    var point: Int

    /// Takes the shortest digits that stand for a finite number.
    init(_ number: Double) {
        guard number != 0 else {
            (digits, point) = ([], 0)
            return
        }
        let shortest = ScriptNumber.shortest(number)
        digits = shortest.digits.utf8.map { $0 - UInt8(ascii: "0") }
        point = shortest.point
    }

    /// Whether no digit is left.
    var isZero: Bool { digits.isEmpty }

    /// Returns the number with its first digits only, rounded; a half away from zero.
    func rounded(keeping count: Int) -> ScriptDecimal {
        guard count < digits.count else { return self }
        var result = self
        result.digits = Array(digits.prefix(max(0, count)))
        if count >= 0, digits[count] >= 5 { result.increment() }
        while result.digits.last == 0 { result.digits.removeLast() }
        if result.digits.isEmpty { result.point = 0 }
        return result
    }

    /// Adds one to the last digit.
    private mutating func increment() {
        for index in digits.indices.reversed() {
            guard digits[index] == 9 else {
                digits[index] += 1
                return
            }
            digits[index] = 0
        }
        digits.insert(1, at: 0)
        point += 1
    }

    /// The digits before the point, at least one.
    var whole: String {
        guard point > 0, !digits.isEmpty else { return "0" }
        return Self.text(digits.prefix(point))
            + String(repeating: "0", count: max(0, point - digits.count))
    }

    /// The digits behind the point.
    var fraction: String {
        guard !digits.isEmpty else { return "" }
        return String(repeating: "0", count: max(0, -point))
            + Self.text(digits.dropFirst(max(0, point)))
    }

    private static func text(_ digits: ArraySlice<UInt8>) -> String {
        String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    }
}
