extension ExpressionOperator {
    /// `$dateFromParts`: a date from a year, month and day, or from an ISO year, week and weekday.
    static let dateFromParts = ExpressionOperator { name, argument, parser throws(StoreError) in
        let day = ["year", "month", "day"]
        let isoDay = ["isoWeekYear", "isoWeek", "isoDayOfWeek"]
        let time = ["hour", "minute", "second", "millisecond"]
        let arguments = try ExpressionArguments(
            argument, day + isoDay + time + ["timezone"],
            notDocument: .location(40519, "$dateFromParts only supports an object as its argument")
        ) { .location(40518, "Unrecognized argument to $dateFromParts: \($0)") }
        let isISO = !arguments.contains("year")
        guard !isISO || arguments.contains("isoWeekYear") else {
            throw .location(
                40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
        }
        if !isISO, isoDay.contains(where: arguments.contains) {
            throw .location(
                40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
        }
        if isISO, day.contains(where: arguments.contains) {
            throw .location(
                40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
        }
        var nodes: [ExpressionNode] = []
        let names = time + (isISO ? isoDay : day)
        for (index, part) in names.enumerated() {
            nodes.append(
                try arguments.operand(part, &parser, default: .int32(index < 4 ? 0 : 1)))
        }
        nodes.append(try arguments.operand("timezone", &parser, default: .string("UTC")))
        let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
            var numbers: [Int] = []
            for (index, part) in names.enumerated() {
                guard let number = try datePart(part, values[index]) else { return .null }
                numbers.append(number)
            }
            guard let zone = try ExpressionDate.zone(values[7]) else { return .null }
            let year = numbers[4]
            guard (1...9_999).contains(year) else {
                throw .location(
                    isISO ? 31095 : 40523,
                    "'\(names[4])' must evaluate to an integer in the range 1 to 9999, found "
                        + String(year))
            }
            let days: Int
            if isISO {
                days = CalendarFields.days(
                    isoYear: year, week: numbers[5], weekday: numbers[6])
            } else {
                let month = numbers[5] - 1
                let first = ExtendedJSONDate.days(
                    year + CalendarFields.quotient(month, 12),
                    CalendarFields.remainder(month, 12) + 1, 1)
                days = first + numbers[6] - 1
            }
            return try date(days, Array(numbers[..<4]), zone)
        }
        return .call(ExpressionFunction(name, .eager(body)), nodes)
    }

    /// Returns a part as a number, `nil` for null.
    private static func datePart(_ name: String, _ value: BSONValue?) throws(StoreError) -> Int? {
        if NumberCoercion.isNullish(value) { return nil }
        guard let number = NumberCoercion.exact(value) else {
            throw .location(
                40515,
                "'\(name)' must evaluate to an integer, found \(ExpressionText.type(of: value)) "
                    + "with value \(ExpressionText.text(of: value))")
        }
        let isUnbounded = ["year", "isoWeekYear", "second", "millisecond"].contains(name)
        guard isUnbounded || (-32_768...32_767).contains(number) else {
            throw .location(
                31034,
                "'\(name)' must evaluate to a value in the range [-32768, 32767]; value "
                    + "\(number) is not in range")
        }
        return Int(number)
    }

    private static func date(
        _ days: Int, _ time: [Int], _ zone: ExpressionTimeZone
    ) throws(StoreError) -> BSONValue {
        let whole = CalendarFields.quotient(time[3], 1_000)
        let clock = days * 86_400 + time[0] * 3_600 + time[1] * 60 + whole
        let (seconds, overflow) = clock.addingReportingOverflow(time[2])
        // One day less than 64-bit milliseconds allow, so that no zone's offset exceeds them.
        guard !overflow, seconds.magnitude < Int.max / 1_000 - 100_000 else {
            throw StoreError(
                .durationOverflow,
                "Overflow casting from a lower-precision duration to a higher-precision duration")
        }
        let rest = CalendarFields.remainder(time[3], 1_000)
        return .datetime(
            BSONDatetime(milliseconds: Int64(zone.universal(seconds) * 1_000 + rest)))
    }
}
