/// A filter's condition on a document, as a tree.
///
/// ``Filter`` compiles it; an upsert extracts the equalities from it.
package indirect enum Predicate: Sendable {
    /// Every part holds; true without parts.
    case all([Predicate])
    /// At least one part holds; false without parts.
    case any([Predicate])
    /// The part does not hold.
    case not(Predicate)
    /// A value at the path passes the test.
    case field(FieldPath, Test)
    /// The document as a whole passes the test.
    case special(DocumentTest)

    /// A condition on one value.
    package enum Test: Sendable {
        /// The value compares so with a constant of the same type class.
        case compare(Comparison, BSONValue)
        /// The value equals one of the constants or matches one of the expressions.
        case isIn([BSONValue], [BSONRegularExpression])
        /// The value is a text that matches, or the same expression.
        case matches(BSONRegularExpression)
        /// The value exists.
        case exists
        /// The value has one of these types.
        case hasType(TypeSet)
        /// The value is an array of this size.
        case hasSize(Int)
        /// The value is a number with this remainder.
        case modulo(divisor: Int64, remainder: Int64)
        /// The value is an array with a document for which the predicate holds.
        case hasDocument(Predicate)
        /// The value is an array with a value for which the predicate, whose paths are empty,
        /// holds.
        case hasElement(Predicate)
        /// The value passes a special test.
        case special(ValueTest)
    }

    /// The required order of a value and a constant.
    package enum Comparison: UInt8, Sendable {
        case equal
        case less
        case lessOrEqual
        case greater
        case greaterOrEqual
    }

    /// A set of BSON types as bits.
    package struct TypeSet: Sendable, Hashable {
        private(set) var bits: UInt32 = 0

        var isEmpty: Bool { bits == 0 }

        mutating func insert(_ type: BSONType) { bits |= Self.bit(type.rawValue) }

        package func contains(_ typeByte: UInt8) -> Bool { bits & Self.bit(typeByte) != 0 }

        /// MinKey and MaxKey have bytes far from the others.
        private static func bit(_ typeByte: UInt8) -> UInt32 {
            switch typeByte {
            case 0xFF: 1
            case 0x7F: 1 << 31
            default: 1 << UInt32(typeByte & 31)
            }
        }
    }
}
