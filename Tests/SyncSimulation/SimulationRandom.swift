/// Draws numbers that a seed decides: SplitMix64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SimulationRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins a stream; two streams of one seed are independent.
    package init(seed: UInt64, stream: UInt64 = 0) {
        state = seed
        state = next() ^ (stream &* 0xD6E8_FEB8_6659_FD93)
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number from 0 up to, but not including, a bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// True in so many of a hundred draws.
    mutating func percent(_ rate: Int) -> Bool { below(100) < rate }

    /// One of several; the first where there is only one.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
