#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension BSONDatetime {
    /// Rounds a date to the nearest millisecond; `nil` if that exceeds 64 bits.
    public init?(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        guard let whole = Int64(exactly: milliseconds) else { return nil }
        self.init(milliseconds: whole)
    }

    /// The date; exact to the millisecond for hundreds of thousands of years around now.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension BSONBinary {
    /// Creates a binary of subtype 4.
    ///
    /// Source: RFC 4122, section 4.1.2, byte order; BSON specification 1.1, subtype 4.
    public init(_ uuid: UUID) {
        self.init(withUnsafeBytes(of: uuid.uuid) { Array($0) }, subtype: 4)
    }

    /// The UUID, if this is a binary of subtype 4 with 16 bytes.
    public var uuid: UUID? {
        guard subtype == 4, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
