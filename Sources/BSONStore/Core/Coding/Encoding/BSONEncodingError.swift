#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A maker of encoding errors, with the coding path.
enum BSONEncodingError {
    static func make(
        _ message: String, _ value: Any, at node: BSONEncodingNode, key: (any CodingKey)?
    ) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: node.codingPath + (key.map { [$0] } ?? []),
                debugDescription: message))
    }

    static func nullInKey(_ key: any CodingKey, at node: BSONEncodingNode) -> EncodingError {
        make("A key cannot hold NUL.", key.stringValue, at: node, key: key)
    }

    static func tooLarge(
        _ value: Any, at node: BSONEncodingNode, key: (any CodingKey)?
    ) -> EncodingError {
        make("BSON cannot hold \(value) in this form.", value, at: node, key: key)
    }

    /// Returns the error for a date without a form in BSON.
    ///
    /// The error holds the seconds since 1970: a `Date` beyond the calendar, or of NaN, can end the
    /// process when it is printed.
    static func noDate(
        _ date: Date, as form: String, at node: BSONEncodingNode, key: (any CodingKey)?
    ) -> EncodingError {
        make(refusal(of: date, as: form), date.timeIntervalSince1970, at: node, key: key)
    }

    /// Returns the text that says why a date has no form in BSON.
    static func refusal(of date: Date, as form: String) -> String {
        let seconds = date.timeIntervalSince1970
        if seconds.isNaN { return "A date that is not a number cannot be stored as \(form)." }
        if seconds.isInfinite { return "An infinite date cannot be stored as \(form)." }
        return "A date \(seconds) seconds from 1970 cannot be stored as \(form)."
    }

    static func tooDeep(
        _ value: Any, at node: BSONEncodingNode, key: any CodingKey
    ) -> EncodingError {
        make(
            "Nested deeper than \(BSONLimits().depthMax) levels.", value, at: node, key: key)
    }
}
