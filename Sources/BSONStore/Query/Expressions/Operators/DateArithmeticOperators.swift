/// Operators that count, add and cut dates in units of time.
enum DateArithmeticOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$dateAdd": shift("$dateAdd") { $0 },
        "$dateSubtract": shift("$dateSubtract") { amount throws(StoreError) in
            guard amount != .min else {
                throw .location(
                    6_045_000, "invalid $dateSubtract 'amount' parameter value: \(amount)")
            }
            return -amount
        },
        "$dateDiff": dateDiff, "$dateTrunc": dateTrunc,
    ]

    /// `$dateAdd` and `$dateSubtract`: a date and an amount of a unit.
    private static func shift(
        _ name: String, _ signed: @escaping @Sendable (Int64) throws(StoreError) -> Int64
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let arguments = try ExpressionArguments(
                argument, ["startDate", "unit", "amount", "timezone"],
                notDocument: .location(5_166_400, "\(name) expects an object as its argument")
            ) {
                .location(
                    5_166_401,
                    "Unrecognized argument to \(name): \($0). Expected arguments are startDate, "
                        + "unit, amount, and optionally timezone.")
            }
            var nodes: [ExpressionNode] = []
            for part in ["startDate", "unit", "amount"] {
                nodes.append(
                    try arguments.operand(
                        part, &parser,
                        missing: .location(
                            5_166_402,
                            "\(name) requires startDate, unit, and amount to be present")))
            }
            nodes.append(try arguments.operand("timezone", &parser, default: .string("UTC")))
            let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                if values[..<3].contains(where: NumberCoercion.isNullish) { return .null }
                guard let zone = try ExpressionDate.zone(values[3]) else { return .null }
                guard let date = ExpressionDate.date(values[0]) else {
                    throw .location(
                        5_166_403, "\(name) requires startDate to be convertible to a date")
                }
                let unit = try ExpressionDate.unit(name, values[1])
                guard let amount = NumberCoercion.exact(values[2]) else {
                    throw .location(5_166_405, "\(name) expects integer amount of time units")
                }
                return .datetime(try ExpressionDate.add(date, unit, try signed(amount), zone))
            }
            return .call(ExpressionFunction(name, .eager(body)), nodes)
        }
    }

    /// `$dateDiff`: the number of unit boundaries between two dates.
    private static let dateDiff = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["startDate", "endDate", "unit", "timezone", "startOfWeek"],
            notDocument: .location(
                5_166_301, "$dateDiff only supports an object as its argument")
        ) { .location(5_166_302, "Unrecognized argument to $dateDiff: \($0)") }
        var nodes: [ExpressionNode] = []
        let required: [(String, Int32)] = [
            ("startDate", 5_166_303), ("endDate", 5_166_304), ("unit", 5_166_305),
        ]
        for (part, code) in required {
            nodes.append(
                try arguments.operand(
                    part, &parser,
                    missing: .location(code, "Missing '\(part)' parameter to $dateDiff")))
        }
        nodes.append(try arguments.operand("timezone", &parser, default: .string("UTC")))
        nodes.append(try arguments.operand("startOfWeek", &parser, default: .string("sunday")))
        let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
            if values[..<3].contains(where: NumberCoercion.isNullish) { return .null }
            let isWeek = values[2]?.stringValue == "week"
            if isWeek, NumberCoercion.isNullish(values[4]) { return .null }
            guard let zone = try ExpressionDate.zone(name, values[3]) else { return .null }
            var dates: [BSONDatetime] = []
            for (place, part) in ["startDate", "endDate"].enumerated() {
                guard let date = ExpressionDate.date(values[place]) else {
                    throw .location(
                        5_166_307,
                        "$dateDiff requires '\(part)' to be a date, but got "
                            + ExpressionText.type(of: values[place]))
                }
                dates.append(date)
            }
            let unit = try ExpressionDate.unit(name, values[2])
            let first = isWeek ? try ExpressionDate.startOfWeek(name, values[4]) : 7
            return .int64(
                try ExpressionDate.difference(dates[0], dates[1], unit, zone, startOfWeek: first))
        }
        return .call(ExpressionFunction(name, .eager(body)), nodes)
    }

    /// `$dateTrunc`: the start of the bin that contains a date.
    private static let dateTrunc = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["date", "unit", "binSize", "timezone", "startOfWeek"],
            notDocument: .location(
                5_439_007, "$dateTrunc only supports an object as its argument")
        ) {
            .location(
                5_439_008,
                "Unrecognized argument to $dateTrunc: \($0). Expected arguments are date, unit, "
                    + "and optionally, binSize, timezone, startOfWeek")
        }
        let nodes = [
            try arguments.operand(
                "date", &parser,
                missing: .location(5_439_009, "Missing 'date' parameter to $dateTrunc")),
            try arguments.operand(
                "unit", &parser,
                missing: .location(5_439_010, "Missing 'unit' parameter to $dateTrunc")),
            try arguments.operand("binSize", &parser, default: .int32(1)),
            try arguments.operand("timezone", &parser, default: .string("UTC")),
            try arguments.operand("startOfWeek", &parser, default: .string("sunday")),
        ]
        let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
            if values[..<3].contains(where: NumberCoercion.isNullish) { return .null }
            let isWeek = values[1]?.stringValue == "week"
            if isWeek, NumberCoercion.isNullish(values[4]) { return .null }
            guard let zone = try ExpressionDate.zone(name, values[3]) else { return .null }
            guard let date = ExpressionDate.date(values[0]) else {
                throw .location(
                    5_439_012,
                    "$dateTrunc requires 'date' to be a date, but got "
                        + ExpressionText.type(of: values[0]))
            }
            let unit = try ExpressionDate.unit(name, values[1])
            guard let size = NumberCoercion.exact(values[2]) else {
                throw .location(
                    5_439_017,
                    "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value "
                        + "'\(ExpressionText.text(of: values[2]))' of type "
                        + ExpressionText.type(of: values[2]))
            }
            guard size > 0 else {
                throw .location(
                    5_439_018,
                    "$dateTrunc requires 'binSize' to be greater than 0, but got value \(size)")
            }
            let first = isWeek ? try ExpressionDate.startOfWeek(name, values[4]) : 7
            return .datetime(
                try ExpressionDate.truncate(date, unit, size, zone, startOfWeek: first))
        }
        return .call(ExpressionFunction(name, .eager(body)), nodes)
    }
}

extension ExpressionDate {
    /// Returns the time zone that a value names, `nil` for null; errors name the operator.
    fileprivate static func zone(
        _ name: String, _ value: BSONValue?
    ) throws(StoreError) -> ExpressionTimeZone? {
        do throws(StoreError) {
            return try zone(value)
        } catch {
            var error = error
            error.message =
                "\(name) parameter 'timezone' value parsing failed :: caused by :: "
                + error.message
            throw error
        }
    }

    fileprivate static func unit(
        _ name: String, _ value: BSONValue?
    ) throws(StoreError) -> ExpressionDateUnit {
        guard case .string(let text) = value else {
            throw .location(
                5_439_013,
                "\(name) requires 'unit' to be a string, but got \(ExpressionText.type(of: value))")
        }
        guard let unit = ExpressionDateUnit(rawValue: text) else {
            throw StoreError(
                .failedToParse,
                "\(name) parameter 'unit' value parsing failed :: caused by :: unknown time unit "
                    + "value: \(text)")
        }
        return unit
    }

    /// Returns the number of the first day of a week, 1 for Monday.
    fileprivate static func startOfWeek(
        _ name: String, _ value: BSONValue?
    ) throws(StoreError) -> Int {
        guard case .string(let text) = value else {
            throw .location(
                5_439_015,
                "\(name) requires 'startOfWeek' to be a string, but got "
                    + ExpressionText.type(of: value))
        }
        guard let day = ExpressionDateUnit.weekday(text) else {
            throw .location(
                5_439_016,
                "\(name) parameter 'startOfWeek' value cannot be recognized as a day of a week: "
                    + text)
        }
        return day
    }
}
