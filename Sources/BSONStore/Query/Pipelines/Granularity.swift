#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A preferred number series to which `$bucketAuto` rounds its boundaries.
///
/// Source: MongoDB manual, "$bucketAuto", granularity; the series are those of ISO 3 and IEC 60063.
struct Granularity: Sendable {
    private enum Series: Sendable {
        case powersOfTwo
        /// The numbers of one decade, without their power of ten.
        case decade([Double])
    }

    private let series: Series

    /// Finds a series by its name.
    ///
    /// - Throws: 40257 for an unknown name.
    init(_ name: String) throws(StoreError) {
        if name == "POWERSOF2" {
            series = .powersOfTwo
        } else if let decade = Self.decades[name] {
            series = .decade(decade)
        } else {
            throw .location(40257, "Unknown rounding granularity '\(name)'")
        }
    }

    /// Returns the least number of the series that is greater than a number; zero stays.
    func roundUp(_ value: BSONValue) -> BSONValue {
        round(value) { number in
            switch series {
            case .powersOfTwo: exp2(log2(number).rounded(.down) + 1)
            case .decade(let decade): Self.next(above: number, in: decade)
            }
        }
    }

    /// Returns the greatest number of the series that is less than a number; zero stays.
    func roundDown(_ value: BSONValue) -> BSONValue {
        round(value) { number in
            switch series {
            case .powersOfTwo: exp2(log2(number).rounded(.up) - 1)
            case .decade(let decade): Self.last(below: number, in: decade)
            }
        }
    }

    private func round(_ value: BSONValue, _ body: (Double) -> Double) -> BSONValue {
        guard let number = NumberCoercion.double(value), number > 0, number.isFinite else {
            return value
        }
        let rounded = body(number)
        // A power of two with an exponent of at least 0 is a whole number.
        if case .powersOfTwo = series, value.type != .decimal128, rounded >= 1, rounded < 0x1p63 {
            return NumberCoercion.narrow(Int64(rounded))
        }
        if case .decimal128 = value { return .decimal128(BSONDecimal128(rounded)) }
        return .double(rounded)
    }

    private static func next(above number: Double, in decade: [Double]) -> Double {
        let (least, most) = (decade[0], decade[decade.count - 1])
        var scale = 1.0
        while number >= most * scale { scale *= 10 }
        while number < least * scale {
            let before = least * scale
            scale /= 10
            if number >= most * scale { return before }
        }
        return (decade.first { number < $0 * scale } ?? most) * scale
    }

    private static func last(below number: Double, in decade: [Double]) -> Double {
        let (least, most) = (decade[0], decade[decade.count - 1])
        var scale = 1.0
        while number <= least * scale {
            scale /= 10
            // No number of the series is between zero and the least numbers.
            if scale == 0 { return 0 }
        }
        while number > most * scale {
            let before = most * scale
            scale *= 10
            if number <= least * scale { return before }
        }
        return (decade.last { $0 * scale < number } ?? least) * scale
    }

    private static let decades: [String: [Double]] = [
        "R5": [10, 16, 25, 40, 63],
        "R10": [100, 125, 160, 200, 250, 315, 400, 500, 630, 800],
        "R20": [
            100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630,
            710, 800, 900,
        ],
        "R40": [
            100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250,
            265, 280, 300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670,
            710, 750, 800, 850, 900, 950,
        ],
        "R80": [
            103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258,
            272, 290, 307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690,
            730, 775, 825, 875, 925, 975,
        ],
        "1-2-5": [10, 20, 50],
        "E6": [10, 15, 22, 33, 47, 68],
        "E12": [10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82],
        "E24": [
            10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75,
            82, 91,
        ],
        "E48": exponential(48), "E96": exponential(96), "E192": exponential(192),
    ]

    /// Returns a geometric series with a count of numbers per decade, in three digits.
    private static func exponential(_ count: Int) -> [Double] {
        (0..<count).map { index in
            let number = (100 * pow(10, Double(index) / Double(count))).rounded()
            // The standard's only exception to its formula.
            return number == 919 ? 920 : number
        }
    }
}
