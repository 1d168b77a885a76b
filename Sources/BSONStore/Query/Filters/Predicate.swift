/// Says what a filter asks of a document, as a tree.
///
/// ``Filter`` compiles it; an upsert reads the equalities off it.
indirect enum Predicate: Sendable {
    /// Every part holds; with no parts it always holds.
    case all([Predicate])
    /// At least one part holds; with no parts it never holds.
    case any([Predicate])
    /// The part does not hold.
    case not(Predicate)
    /// A value that the path leads to passes the test.
    case field(FieldPath, Test)
    /// The document as a whole passes the test.
    case special(DocumentTest)

    /// What is asked of one value.
    enum Test: Sendable {
        /// It stands so to a constant of the same type class.
        case compare(Comparison, BSONValue)
        /// It equals a constant or matches an expression.
        case isIn([BSONValue], [BSONRegularExpression])
        /// It is a text that matches, or the same expression.
        case matches(BSONRegularExpression)
        /// It is there.
        case exists
        /// It has one of these types.
        case hasType(TypeSet)
        /// It is an array of so many values.
        case hasSize(Int)
        /// It is a number that leaves this remainder.
        case modulo(divisor: Int64, remainder: Int64)
        /// It is an array with a document for which the predicate holds.
        case hasDocument(Predicate)
        /// It is an array with a value for which the predicate, whose paths are empty, holds.
        case hasElement(Predicate)
        /// It passes a test of a kind that takes more than a comparison.
        case special(ValueTest)
    }

    /// How a value stands to a constant.
    enum Comparison: UInt8, Sendable {
        case equal
        case less
        case lessOrEqual
        case greater
        case greaterOrEqual
    }

    /// A set of BSON types as bits.
    struct TypeSet: Sendable, Hashable {
        private(set) var bits: UInt32 = 0

        var isEmpty: Bool { bits == 0 }

        mutating func insert(_ type: BSONType) { bits |= Self.bit(type.rawValue) }

        func contains(_ typeByte: UInt8) -> Bool { bits & Self.bit(typeByte) != 0 }

        /// MinKey and MaxKey have bytes of their own far from the others.
        private static func bit(_ typeByte: UInt8) -> UInt32 {
            switch typeByte {
            case 0xFF: 1
            case 0x7F: 1 << 31
            default: 1 << UInt32(typeByte & 31)
            }
        }
    }
}
