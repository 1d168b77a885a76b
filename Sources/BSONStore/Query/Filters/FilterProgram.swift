/// A filter as flat arrays of plain values, so that matching neither allocates nor counts
/// references.
///
/// A node joins leaves and other nodes. The leaves of a conjunction are grouped by their first key:
/// one pass over the document serves them all.
struct FilterProgram: Sendable {
    var nodes: [Node] = []
    var children: [Int32] = []
    var groups: [Group] = []
    var leaves: [Leaf] = []
    var parts: [Part] = []
    var constants: [Constant] = []
    var patterns: [CompiledRegex] = []
    var documentTests: [DocumentTest] = []
    var valueTests: [ValueTest] = []
    /// The collation of texts in expressions.
    var collation: Collation?
    /// The keys and the bytes of constants.
    var bytes: [UInt8] = []

    /// The junction of a node's parts.
    enum Join: UInt8, Sendable {
        case all
        case any
        case not
        /// No junction: a test of the whole document.
        case special
    }

    /// The maximum number of groups of a node: the matcher has one bit for each in a 64-bit mask.
    static let groupsMax = UInt64.bitWidth

    /// A range of at most ``groupsMax`` leaf groups and a range of child nodes with their junction.
    struct Node: Sendable {
        var join: Join
        var groups: Range<Int32>
        var children: Range<Int32>
        /// The test of the whole document.
        var special: Int32 = 0
    }

    /// Whether the program has tests that need a ``FilterContext``.
    var hasSpecialTests: Bool { !documentTests.isEmpty || !valueTests.isEmpty }

    /// The leaves whose paths begin with the same key; without a key they test the value itself.
    struct Group: Sendable {
        var keyStart: Int
        var keyCount: Int
        /// The key's first byte, which excludes most other keys; 0 for an empty key.
        var keyFirst: UInt8
        var leaves: Range<Int32>
    }

    /// One key of a path, with the array position that it also names, or -1.
    struct Part: Sendable {
        var key: Range<Int32>
        var index: Int32
    }

    /// A constant's type with its bytes on the wire.
    struct Constant: Sendable {
        var typeByte: UInt8
        var bytes: Range<Int32>
    }

    /// The test of a value; the meaning of the ranges depends on it.
    enum Test: UInt8, Sendable {
        case equal
        case less
        case lessOrEqual
        case greater
        case greaterOrEqual
        case isIn
        case matches
        case exists
        case hasType
        case hasSize
        case modulo
        case hasDocument
        case hasElement
        case special
    }

    /// The field of a leaf that holds its numeric constant.
    enum NumberKind: UInt8, Sendable {
        case none
        case whole
        case double
    }

    /// A path with a test.
    struct Leaf: Sendable {
        var test: Test
        var isNegated = false
        /// Whether the values of an array at the path's end are also tested one by one.
        var entersArrays = true
        /// The place of the constant's type class in MongoDB's order.
        var rank: Int8 = 0
        var types = Predicate.TypeSet()
        var parts: Range<Int32> = 0..<0
        /// The range of the constant, or of the sorted set of constants.
        var constants: Range<Int32> = 0..<0
        var patterns: Range<Int32> = 0..<0
        /// The node that array elements must pass, or the special test.
        var node: Int32 = 0
        /// A whole constant, a size, a divisor, or 1 when a set of constants holds null.
        var number: Int64 = 0
        /// The constant as a number, for the most frequent comparisons.
        var double: Double = 0
        var numberKind = NumberKind.none
        var remainder: Int64 = 0

        /// Whether the leaf passes, by whether its test is met.
        @inline(__always)
        func accepts(_ isMet: Bool) -> Bool { isMet != isNegated }
    }
}
