/// Operators that split dates and timestamps, and create dates from parts and texts.
enum DateOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$year": part { .int32(Int32(truncatingIfNeeded: $0.year)) },
        "$month": part { .int32(Int32(truncatingIfNeeded: $0.month)) },
        "$dayOfMonth": part { .int32(Int32(truncatingIfNeeded: $0.day)) },
        "$dayOfWeek": part { .int32(Int32(truncatingIfNeeded: $0.weekday)) },
        "$dayOfYear": part { .int32(Int32(truncatingIfNeeded: $0.dayOfYear)) },
        "$hour": part { .int32(Int32(truncatingIfNeeded: $0.hour)) },
        "$minute": part { .int32(Int32(truncatingIfNeeded: $0.minute)) },
        "$second": part { .int32(Int32(truncatingIfNeeded: $0.second)) },
        "$millisecond": part { .int32(Int32(truncatingIfNeeded: $0.millisecond)) },
        "$week": part { .int32(Int32(truncatingIfNeeded: $0.week)) },
        "$isoDayOfWeek": part { .int32(Int32(truncatingIfNeeded: $0.isoWeekday)) },
        "$isoWeek": part { .int32(Int32(truncatingIfNeeded: $0.isoWeek)) },
        "$isoWeekYear": part { .int64(Int64($0.isoYear)) },
        "$dateToParts": dateToParts, "$dateFromParts": dateFromParts,
        "$dateToString": dateToString, "$dateFromString": dateFromString,
        "$tsSecond": timestamp(5_687_301) { $0.seconds },
        "$tsIncrement": timestamp(5_687_302) { $0.increment },
    ]

    private static func part(
        _ part: @escaping @Sendable (CalendarFields) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let nodes = try parser.dateAndZone(name, argument)
            let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                if NumberCoercion.isNullish(values[0]) { return .null }
                let date = try ExpressionDate.coerce(values[0])
                guard let zone = try ExpressionDate.zone(values[1]) else { return .null }
                return part(CalendarFields(date, in: zone))
            }
            return .call(ExpressionFunction(name, .eager(body)), nodes)
        }
    }

    private static let dateToParts = ExpressionOperator {
        name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["date", "timezone", "iso8601"],
            notDocument: .location(40524, "$dateToParts only supports an object as its argument")
        ) { .location(40520, "Unrecognized argument to $dateToParts: \($0)") }
        let nodes = [
            try arguments.operand(
                "date", &parser,
                missing: .location(40522, "Missing 'date' parameter to $dateToParts")),
            try arguments.operand("timezone", &parser, default: .string("UTC")),
            try arguments.operand("iso8601", &parser, default: .bool(false)),
        ]
        let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
            guard let zone = try ExpressionDate.zone(values[1]) else { return .null }
            let isISO: Bool
            switch values[2] {
            case nil, .null, .undefined: return .null
            case .bool(let value): isISO = value
            default:
                throw .location(
                    40521,
                    "iso8601 must evaluate to a bool, found \(ExpressionText.type(of: values[2]))")
            }
            if NumberCoercion.isNullish(values[0]) { return .null }
            let date = CalendarFields(try ExpressionDate.coerce(values[0]), in: zone)
            let day =
                isISO
                ? [
                    ("isoWeekYear", date.isoYear), ("isoWeek", date.isoWeek),
                    ("isoDayOfWeek", date.isoWeekday),
                ] : [("year", date.year), ("month", date.month), ("day", date.day)]
            let time = [
                ("hour", date.hour), ("minute", date.minute), ("second", date.second),
                ("millisecond", date.millisecond),
            ]
            return .document(
                BSONDocument((day + time).map { ($0.0, .int32(Int32(truncatingIfNeeded: $0.1))) }))
        }
        return .call(ExpressionFunction(name, .eager(body)), nodes)
    }

    private static let dateToString = ExpressionOperator {
        name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["date", "format", "timezone", "onNull"],
            notDocument: .location(18629, "$dateToString only supports an object as its argument")
        ) { .location(18534, "Unrecognized argument to $dateToString: \($0)") }
        let nodes = [
            try arguments.operand(
                "date", &parser,
                missing: .location(18628, "Missing 'date' parameter to $dateToString")),
            try arguments.operand("format", &parser, default: nil),
            try arguments.operand("timezone", &parser, default: .string("UTC")),
            try arguments.operand("onNull", &parser, default: .null),
        ]
        let hasFormat = arguments.contains("format")
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let date = try nodes[0].evaluate(&context)
            var format = try ExpressionDate.format(
                try nodes[1].evaluate(&context), 18533, name, ExpressionDateFormat.letters)
            let zone = try ExpressionDate.zone(try nodes[2].evaluate(&context))
            if NumberCoercion.isNullish(date) { return try nodes[3].evaluate(&context) }
            guard let zone else { return .null }
            if !hasFormat { format = ExpressionDateFormat.isoFormat(in: zone) }
            guard let format else { return .null }
            return .string(
                try ExpressionDateFormat.text(
                    format, try ExpressionDate.coerce(date).milliseconds, zone))
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes)
    }

    private static let dateFromString = ExpressionOperator {
        name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["dateString", "format", "timezone", "onNull", "onError"],
            notDocument: .location(
                40540,
                "$dateFromString only supports an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        ) { .location(40541, "Unrecognized argument to $dateFromString: \($0)") }
        let hasFormat = arguments.contains("format")
        let hasOnError = arguments.contains("onError")
        let nodes = [
            try arguments.operand(
                "dateString", &parser,
                missing: .location(40542, "Missing 'dateString' parameter to $dateFromString")),
            try arguments.operand("format", &parser, default: .string("")),
            try arguments.operand("timezone", &parser, default: .string("UTC")),
            try arguments.operand("onNull", &parser, default: .null),
            try arguments.operand("onError", &parser, default: .null),
        ]
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let text = try nodes[0].evaluate(&context)
            let format = try ExpressionDate.format(
                try nodes[1].evaluate(&context), 40684, name, ExpressionDateFormat.readLetters)
            let zone = try ExpressionDate.zone(try nodes[2].evaluate(&context))
            if NumberCoercion.isNullish(text) { return try nodes[3].evaluate(&context) }
            do throws(StoreError) {
                guard case .string(let string) = text else {
                    throw StoreError(
                        .conversionFailure,
                        "$dateFromString requires that 'dateString' be a string, found: "
                            + "\(ExpressionText.type(of: text)) with value "
                            + ExpressionText.text(of: text))
                }
                guard let zone, let format else { return .null }
                return .datetime(
                    try ExpressionDateParser.date(string, hasFormat ? format : nil, zone))
            } catch {
                guard hasOnError, error.code == .conversionFailure else { throw error }
                return try nodes[4].evaluate(&context)
            }
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes)
    }

    /// `$dateFromParts`: a date from a year, month and day, or from an ISO year, week and weekday.
    private static let dateFromParts = ExpressionOperator {
        name, argument, parser throws(StoreError) in
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
        let overflowed = StoreError(
            .durationOverflow,
            "Overflow casting from a lower-precision duration to a higher-precision duration")
        // The server counts microseconds.
        guard time[3].magnitude <= Int.max / 1_000 else { throw overflowed }
        let whole = CalendarFields.quotient(time[3], 1_000)
        let clock = days * 86_400 + time[0] * 3_600 + time[1] * 60 + whole
        let (seconds, overflow) = clock.addingReportingOverflow(time[2])
        // One day less than 64-bit milliseconds allow, so that no zone's offset exceeds them.
        guard !overflow, seconds.magnitude < Int.max / 1_000 - 100_000 else {
            throw overflowed
        }
        let rest = CalendarFields.remainder(time[3], 1_000)
        return .datetime(
            BSONDatetime(milliseconds: Int64(zone.universal(seconds) * 1_000 + rest)))
    }

    private static func timestamp(
        _ code: Int32, _ part: @escaping @Sendable (BSONTimestamp) -> UInt32
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let call = ExpressionOperator.fixed(1) { arguments, _ throws(StoreError) in
                if NumberCoercion.isNullish(arguments[0]) { return .null }
                guard case .timestamp(let value) = arguments[0] else {
                    throw .location(
                        code,
                        " Argument to \(name) must be a timestamp, but is "
                            + ExpressionText.type(of: arguments[0]))
                }
                return .int64(Int64(part(value)))
            }
            return try call.parse(name, argument, &parser)
        }
    }
}

extension ExpressionParser {
    /// Parses the argument of a date's part: a date, an array of one, or a document with a zone.
    fileprivate mutating func dateAndZone(
        _ name: String, _ argument: BSONValue
    ) throws(StoreError) -> [ExpressionNode] {
        let utc = ExpressionNode.constant(.string("UTC"))
        switch argument {
        case .array(let array):
            guard array.count == 1, let only = array[0] else {
                throw .location(
                    40536,
                    "\(name) accepts exactly one argument if given an array, but was given "
                        + String(array.count))
            }
            return [try operand(only), utc]
        case .document(let document) where document.keys.first?.utf8.first != UInt8(ascii: "$"):
            let arguments = try ExpressionArguments(
                argument, ["date", "timezone"], notDocument: .location(40539, "")
            ) { .location(40535, "unrecognized option to \(name): \"\($0)\"") }
            return [
                try arguments.operand(
                    "date", &self,
                    missing: .location(
                        40539,
                        "missing 'date' argument to \(name), provided: \(name): "
                            + ShellText.text(of: argument))),
                try arguments.operand("timezone", &self, default: .string("UTC")),
            ]
        default: return [try operand(argument), utc]
        }
    }
}
