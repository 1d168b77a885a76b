/// The arguments that operators on dates share.
enum ExpressionDate {
    /// Converts a date, a timestamp or an ObjectId to a date.
    ///
    /// - Throws: 16006 for other types.
    static func coerce(_ value: BSONValue?) throws(StoreError) -> BSONDatetime {
        guard let date = self.date(value) else {
            throw .location(
                16006, "can't convert from BSON type \(ExpressionText.type(of: value)) to Date")
        }
        return date
    }

    /// Converts a value to a date, `nil` for other types.
    static func date(_ value: BSONValue?) -> BSONDatetime? {
        switch value {
        case .datetime(let date): date
        case .timestamp(let time): BSONDatetime(milliseconds: Int64(time.seconds) * 1_000)
        case .objectID(let id):
            BSONDatetime(milliseconds: Int64(Int32(bitPattern: id.timestampSeconds)) * 1_000)
        default: nil
        }
    }

    /// Returns the time zone that a value names, `nil` for null.
    ///
    /// - Throws: 40517 for a value that is not a string, 40485 for an unknown zone.
    static func zone(_ value: BSONValue?) throws(StoreError) -> ExpressionTimeZone? {
        switch value {
        case nil, .null, .undefined: return nil
        case .string(let name): return try ExpressionTimeZone.named(name)
        default:
            throw .location(
                40517, "timezone must evaluate to a string, found \(ExpressionText.type(of: value))"
            )
        }
    }

    /// Returns the format in a value, `nil` for null.
    static func format(
        _ value: BSONValue?, _ code: Int32, _ name: String, _ letters: String
    ) throws(StoreError) -> String? {
        switch value {
        case nil, .null, .undefined: return nil
        case .string(let format):
            try ExpressionDateFormat.validate(format, letters)
            return format
        default:
            throw .location(
                code,
                "\(name) requires that 'format' be a string, found: "
                    + "\(ExpressionText.type(of: value)) with value "
                    + ExpressionText.text(of: value))
        }
    }
}
