internal import BSONStore
internal import Foundation

/// The normal form of passwords, so that different ways of typing one are equal.
///
/// Source: RFC 4013, a profile of RFC 3454.
package enum SASLprep {
    /// Returns the normal form of a text; `nil` if it has characters that passwords must not have.
    ///
    /// Unassigned code points pass, as RFC 3454 allows for queries.
    package static func prepared(_ text: String) -> String? {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isNothing(scalar) {
            mapped.append(isSpace(scalar) ? " " : scalar)
        }
        let normal = String(mapped).precomposedStringWithCompatibilityMapping
        guard !normal.unicodeScalars.contains(where: isProhibited), isOneWay(normal) else {
            return nil
        }
        return normal
    }

    /// Whether a character is mapped to nothing: table B.1.
    private static func isNothing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x1806, 0x180B...0x180D, 0x200B...0x200D, 0x2060, 0xFE00...0xFE0F,
            0xFEFF:
            true
        default: false
        }
    }

    /// Whether a character is a space outside ASCII: table C.1.2.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    /// Whether a character is prohibited: controls, private use, surrogates and others, tables
    /// C.2.1 to C.9.
    private static func isProhibited(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .privateUse, .surrogate: return true
        default: break
        }
        switch scalar.value {
        case 0x6DD, 0x70F, 0x180E, 0x2028, 0x2029, 0x2061...0x2063, 0x206A...0x206F,
            0x1D173...0x1D17A, 0xFDD0...0xFDEF, 0xFFF9...0xFFFD, 0x2FF0...0x2FFB, 0x340, 0x341,
            0x200E, 0x200F, 0x202A...0x202E, 0xE0001, 0xE0020...0xE007F:
            return true
        default: return scalar.value & 0xFFFE == 0xFFFE
        }
    }

    /// Whether a text does not mix directions: a text with right-to-left characters has no
    /// left-to-right ones, and begins and ends with a right-to-left one (RFC 3454, section 6).
    private static func isOneWay(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        guard scalars.contains(where: isRightToLeft) else { return true }
        guard let first = scalars.first, let last = scalars.last else { return true }
        return isRightToLeft(first) && isRightToLeft(last)
            && !scalars.contains {
                $0.properties.isAlphabetic && !isRightToLeft($0)
                    && $0.properties.generalCategory != .nonspacingMark
            }
    }

    /// Whether a character is written from right to left: table D.1.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x5BE, 0x5C0, 0x5C3, 0x5D0...0x5EA, 0x5F0...0x5F4, 0x61B, 0x61F, 0x621...0x63A,
            0x640...0x64A, 0x66D...0x66F, 0x671...0x6D5, 0x6DD, 0x6E5...0x6E6, 0x6FA...0x6FE,
            0x700...0x70D, 0x710, 0x712...0x72C, 0x780...0x7A5, 0x7B1, 0x200F, 0xFB1D,
            0xFB1F...0xFB28, 0xFB2A...0xFB36, 0xFB38...0xFB3C, 0xFB3E, 0xFB40...0xFB41,
            0xFB43...0xFB44, 0xFB46...0xFBB1, 0xFBD3...0xFD3D, 0xFD50...0xFD8F, 0xFD92...0xFDC7,
            0xFDF0...0xFDFC, 0xFE70...0xFE74, 0xFE76...0xFEFC:
            true
        default: false
        }
    }
}
