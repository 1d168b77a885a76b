/// A form of Extended JSON version 2.
public enum ExtendedJSONFormat: Sendable, Hashable, CaseIterable {
    /// Wraps every value whose type JSON lacks, so that reading the text yields the same bytes.
    case canonical
    /// Writes numbers as JSON numbers and dates of the years 1970 to 9999 as ISO 8601 text.
    ///
    /// Reading the text may yield narrower numbers: an int64 of 1 returns as an int32.
    case relaxed
}
