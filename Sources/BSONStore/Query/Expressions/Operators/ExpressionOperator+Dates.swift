extension ExpressionOperator {
    /// Operators that split dates, and create them from parts and texts.
    static let dates: [String: ExpressionOperator] = [
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

    private static func part(
        _ part: @escaping @Sendable (CalendarFields) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let nodes = try parser.dateAndZone(name, argument)
            let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                if NumberCoercion.isNullish(values[0]) { return .null }
                let date = try ExpressionDate.coerce(values[0])
                let zone: ExpressionTimeZone
                switch values[1] {
                case nil, .null, .undefined: return .null
                case .string(let text): zone = try ExpressionTimeZone.named(text)
                default:
                    throw .location(
                        40533,
                        "\(name) requires a string for the timezone argument, but was given a "
                            + "\(ExpressionText.type(of: values[1])) "
                            + "(\(ExpressionText.text(of: values[1])))")
                }
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
            try arguments.operand(
                "format", &parser, default: .string(ExpressionDateFormat.isoFormat)),
            try arguments.operand("timezone", &parser, default: .string("UTC")),
            try arguments.operand("onNull", &parser, default: .null),
        ]
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let date = try nodes[0].evaluate(&context)
            let format = try ExpressionDate.format(
                try nodes[1].evaluate(&context), 18533, name, ExpressionDateFormat.letters)
            let zone = try ExpressionDate.zone(try nodes[2].evaluate(&context))
            if NumberCoercion.isNullish(date) { return try nodes[3].evaluate(&context) }
            guard let zone, let format else { return .null }
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
