/// A filter in the form in which it is matched: flat arrays whose elements name each other by
/// position.
///
/// A scan matches every document that it reads. Matching this form neither allocates nor counts
/// references. ``FilterCompiler`` makes it from a ``Predicate``, and ``FilterMatcher`` shows the tree
/// that it stands for.
struct CompiledFilter: Sendable {
    /// The clauses; the first one is the whole filter.
    var clauses: [Clause] = []
    /// The positions in ``clauses`` of the clauses that are parts of others.
    var subclauses: [Int32] = []
    var keyGroups: [KeyGroup] = []
    var conditions: [Condition] = []
    var pathSteps: [PathStep] = []
    var constants: [Constant] = []
    var patterns: [CompiledRegex] = []
    var documentTests: [DocumentTest] = []
    var valueTests: [ValueTest] = []
    /// The collation of texts in expressions.
    var collation: Collation?
    /// The bytes of all keys and constants.
    var bytes: [UInt8] = []

    /// Whether the filter has tests that compute something; see ``ComputedTests``.
    var hasComputedTests: Bool { !documentTests.isEmpty || !valueTests.isEmpty }
}

// MARK: - Clauses

extension CompiledFilter {
    /// An "and", "or" or "not" of conditions and other clauses.
    struct Clause: Sendable {
        var kind: Kind
        /// The conditions of an "and", grouped by the first keys of their paths; at most
        /// ``keyGroupsMax`` groups.
        var keyGroups: Range<Int32> = 0..<0
        /// The range of ``CompiledFilter/subclauses`` with the other parts.
        var subclauses: Range<Int32> = 0..<0
        /// The position of the test of the whole document.
        var documentTest: Int32 = 0

        enum Kind: UInt8, Sendable {
            /// All parts must match; without parts, every document does.
            case and
            /// One part must match; without parts, no document does.
            case or
            /// The only part must not match.
            case not
            /// A test of the whole document, such as `$expr`, instead of parts.
            case documentTest
        }
    }

    /// The maximum number of key groups of a clause; see ``SmallSet``.
    static let keyGroupsMax = SmallSet.countMax

    /// The conditions of one clause whose paths begin with the same key.
    ///
    /// One walk over a document's keys finds the values for all groups of a clause.
    struct KeyGroup: Sendable {
        /// The key's place in ``CompiledFilter/bytes``.
        var keyStart: Int
        var keyCount: Int
        /// The key's first byte, which differs from that of most other keys; 0 for an empty key.
        var keyFirst: UInt8
        var conditions: Range<Int32>
    }
}

// MARK: - Conditions

extension CompiledFilter {
    /// A path and the test of a value at its end.
    ///
    /// The meaning of the ranges and numbers depends on the test.
    struct Condition: Sendable {
        var test: Test
        /// Whether the condition holds where the test fails.
        var isNegated = false
        /// Whether the test also tries the elements of an array at the path's end, one by one.
        var triesElements = true
        /// The place of the constant's type in MongoDB's order of types.
        var rank: Int8 = 0
        var types = Predicate.TypeSet()
        /// The keys of the path.
        var path: Range<Int32> = 0..<0
        /// The constant, or the sorted constants of `$in`.
        var constants: Range<Int32> = 0..<0
        var patterns: Range<Int32> = 0..<0
        /// The clause that an element must match, or the position of a ``ValueTest``.
        var reference: Int32 = 0
        /// A whole constant, a size, a divisor, or 1 if the constants of `$in` hold null.
        var number: Int64 = 0
        /// The constant as a floating-point number.
        var double: Double = 0
        var numberKind = NumberKind.none
        var remainder: Int64 = 0
    }

    /// The test of a value.
    enum Test: UInt8, Sendable {
        case equal
        case less
        case lessOrEqual
        case greater
        case greaterOrEqual
        /// `$in`
        case isIn
        /// `$regex`
        case matches
        /// `$exists`
        case exists
        /// `$type`
        case hasType
        /// `$size`
        case hasSize
        /// `$mod`
        case modulo
        /// `$elemMatch` with conditions on the fields of an element
        case hasDocument
        /// `$elemMatch` with conditions on the element itself
        case hasElement
        /// A ``ValueTest``.
        case computed
    }

    /// The field of a condition that holds its constant as a number, for the most frequent
    /// comparisons.
    enum NumberKind: UInt8, Sendable {
        case none
        case whole
        case double
    }

    /// One key of a path.
    struct PathStep: Sendable {
        /// The key's place in ``CompiledFilter/bytes``.
        var key: Range<Int32>
        /// The array position that the key also names; -1 if it is not a number.
        var index: Int32
    }

    /// A constant's type with the place of its encoded value in ``CompiledFilter/bytes``.
    struct Constant: Sendable {
        var typeByte: UInt8
        var bytes: Range<Int32>
    }
}
