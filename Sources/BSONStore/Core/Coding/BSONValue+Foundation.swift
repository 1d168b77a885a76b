#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Values of Swift's types, for documents, filters and updates.
///
/// Each has the form in which a ``BSONEncoder`` with the default strategies stores its argument.
extension BSONValue {
    /// Returns a datetime, rounded to the nearest millisecond.
    ///
    /// A date beyond 64 bits of milliseconds becomes the nearest datetime. One that is not a number
    /// becomes undefined, which filters refuse; ``init(encoding:)`` throws for both.
    ///
    /// ```swift
    /// let overdue: BSONDocument = ["due": ["$lt": .date(Date())]]
    /// ```
    public static func date(_ date: Date) -> BSONValue {
        if let datetime = BSONDatetime(date) { return .datetime(datetime) }
        let seconds = date.timeIntervalSince1970
        guard !seconds.isNaN else { return .undefined }
        return .datetime(BSONDatetime(milliseconds: seconds < 0 ? .min : .max))
    }

    /// Returns a binary of subtype 4.
    ///
    /// ```swift
    /// let mine: BSONDocument = ["_id": .uuid(id)]
    /// ```
    public static func uuid(_ uuid: UUID) -> BSONValue { .binary(BSONBinary(uuid)) }

    /// Returns a binary of subtype 0.
    ///
    /// ```swift
    /// let update: BSONDocument = ["$set": ["photo": .data(photo)]]
    /// ```
    public static func data(_ data: Data) -> BSONValue { .binary(BSONBinary(Array(data))) }

    /// Returns a decimal128 with the same digits.
    ///
    /// ```swift
    /// let cheap: BSONDocument = try ["price": ["$lt": .decimal(limit)]]
    /// ```
    ///
    /// - Throws: ``BSONError`` with code `invalidNumber` for more than 34 digits, as a quotient of
    ///   `Decimal` has; round it first.
    public static func decimal(_ decimal: Decimal) throws(BSONError) -> BSONValue {
        .decimal128(try BSONDecimal128(decimal))
    }

    /// Returns a string: the URL's absolute text.
    ///
    /// ```swift
    /// let same: BSONDocument = ["link": .url(link)]
    /// ```
    public static func url(_ url: URL) -> BSONValue { .string(url.absoluteString) }
}

extension BSONValue {
    /// The moment, if the value is a datetime; exact to the millisecond for hundreds of thousands
    /// of years around now.
    public var dateValue: Date? { datetimeValue?.date }
    /// The UUID, if the value is a binary of subtype 4 with 16 bytes.
    public var uuidValue: UUID? { binaryValue?.uuid }
    /// The bytes, if the value is a binary of any subtype.
    public var dataValue: Data? { binaryValue.map { Data($0.bytes) } }
    /// The URL, if the value is a string that is one.
    public var urlValue: URL? { stringValue.flatMap { URL(string: $0) } }
    /// The number, if the value is a decimal128, int32 or int64 that a `Decimal` holds exactly.
    ///
    /// A double is not converted, since its digits are not those that were meant: 0.1 is stored as
    /// 0.1000000000000000055….
    public var decimalValue: Decimal? {
        switch self {
        case .int32(let value): Decimal(value)
        case .int64(let value): Decimal(value)
        case .decimal128(let value): value.decimalValue
        default: nil
        }
    }
}
