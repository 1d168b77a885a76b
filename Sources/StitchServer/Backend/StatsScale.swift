internal import BSONStore

/// The unit of sizes in a reply.
struct StatsScale: Sendable {
    let factor: Int

    /// Sizes in bytes.
    static let one = StatsScale(factor: 1)

    private init(factor: Int) { self.factor = factor }

    /// Reads the argument `scale`.
    ///
    /// - Throws: 2 (BadValue) for a value that is not positive.
    init(_ call: CommandCall) throws(CommandFailure) {
        factor = try call.count("scale", atLeast: 1) ?? 1
    }

    func value(_ bytes: Int) -> BSONValue {
        let scaled = bytes / factor
        return Int32(exactly: scaled).map { .int32($0) } ?? .int64(Int64(scaled))
    }
}
