#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The standard deviation of numbers, computed in one pass.
///
/// Source: B. P. Welford, "Note on a Method for Calculating Corrected Sums of Squares" (1962).
struct StandardDeviation: Sendable {
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// Adds a value; other types are ignored.
    mutating func add(_ value: BSONValue?) {
        guard let number = NumberCoercion.double(value) else { return }
        count += 1
        let distance = number - mean
        mean += distance / count
        squares += distance * (number - mean)
    }

    /// Returns the deviation of a population or of a sample; null for too few numbers.
    func value(isSample: Bool) -> BSONValue {
        let divisor = isSample ? count - 1 : count
        guard divisor > 0 else { return .null }
        let deviation = (squares / divisor).squareRoot()
        // Processors give NaN different signs.
        return .double(deviation.isNaN ? .nan : deviation)
    }
}
