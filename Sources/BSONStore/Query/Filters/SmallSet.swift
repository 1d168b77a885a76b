/// A set of the numbers below 64, as the bits of one word.
///
/// ```swift
/// var missing = SmallSet(below: 3)  // 0, 1, 2
/// missing.remove(1)
/// for number in missing { … }       // 0, 2
/// ```
struct SmallSet: Sequence, IteratorProtocol {
    /// The maximum number of elements.
    static let countMax = UInt64.bitWidth

    private var bits: UInt64

    /// Makes the set of all numbers below a count of at most ``countMax``.
    @inline(__always)
    init(below count: Int) { bits = (1 << UInt64(count)) &- 1 }

    var isEmpty: Bool {
        @inline(__always) get { bits == 0 }
    }

    @inline(__always)
    mutating func remove(_ number: Int) { bits &= ~(1 &<< UInt64(truncatingIfNeeded: number)) }

    /// Removes the least number and returns it.
    @inline(__always)
    mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        let least = bits.trailingZeroBitCount
        bits &= bits &- 1
        return least
    }
}
