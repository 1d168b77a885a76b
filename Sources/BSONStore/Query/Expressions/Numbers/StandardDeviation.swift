#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Computes the standard deviation of numbers in one pass.
///
/// Source: B. P. Welford, "Note on a Method for Calculating Corrected Sums of Squares" (1962).
struct StandardDeviation: Sendable {
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// Adds a value; what is no number does not count.
    mutating func add(_ value: BSONValue?) {
        guard let number = NumberCoercion.double(value) else { return }
        count += 1
        let distance = number - mean
        mean += distance / count
        squares += distance * (number - mean)
    }

    /// The deviation of the whole population, or of a sample of it; null of too few numbers.
    func value(isSample: Bool) -> BSONValue {
        let divisor = isSample ? count - 1 : count
        return divisor > 0 ? .double((squares / divisor).squareRoot()) : .null
    }
}
