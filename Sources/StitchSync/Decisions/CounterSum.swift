internal import BSONStore

/// The addition of both sides' differences of a counter.
enum CounterSum {
    /// Returns `remote + (local - base)` by the rules of `$inc`; a missing base counts as 0.
    ///
    /// - Returns: `nil` for a value that is no finite number, and after an overflow.
    static func of(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?
    ) -> BSONValue? {
        guard let local, let remote else { return nil }
        let base = base ?? .int32(0)
        guard [base, local, remote].allSatisfy(isFinite),
            let difference = BSONArithmetic.subtract(local, base),
            let sum = BSONArithmetic.add(remote, difference), isFinite(sum)
        else { return nil }
        // A difference of two int32s may be longer than the sum.
        if case (.int32, .int32, .int32, .int64(let sum)) = (base, local, remote, sum),
            let narrow = Int32(exactly: sum)
        {
            return .int32(narrow)
        }
        return sum
    }

    private static func isFinite(_ value: BSONValue) -> Bool {
        switch value {
        case .double(let number): number.isFinite
        case .int32, .int64: true
        case .decimal128(let number): number.kind == .finite
        default: false
        }
    }
}
