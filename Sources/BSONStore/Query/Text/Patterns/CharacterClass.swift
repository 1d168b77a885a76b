/// A set of characters: ranges and Unicode categories.
struct CharacterClass: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var parts: [Part] = []
    var isNegated = false
    var ignoresCase = false

    /// A named set inside a class.
    struct Part: Sendable {
        enum Kind: Sendable {
            case digit
            case word
            case space
            case horizontalSpace
            case verticalSpace
            case ranges([ClosedRange<UInt32>])
            case category(String)
        }

        let kind: Kind
        let isNegated: Bool
    }

    func contains(_ character: UInt32) -> Bool {
        var isIn = holds(character)
        if !isIn, ignoresCase {
            isIn = CaseVariants.of(character).contains { holds($0) }
        }
        return isIn != isNegated
    }

    private func holds(_ character: UInt32) -> Bool {
        ranges.contains { $0.contains(character) } || parts.contains { $0.contains(character) }
    }

    static func isWord(_ character: UInt32) -> Bool {
        switch character {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: false
        }
    }
}

extension CharacterClass.Part {
    func contains(_ character: UInt32) -> Bool {
        let isIn: Bool
        switch kind {
        case .digit: isIn = (0x30...0x39).contains(character)
        case .word: isIn = CharacterClass.isWord(character)
        case .space: isIn = character == 0x20 || (0x09...0x0D).contains(character)
        case .horizontalSpace:
            isIn =
                character == 0x09
                || (character == 0x180E || Self.category(of: character) == "Zs")
        case .verticalSpace:
            isIn = (0x0A...0x0D).contains(character) || [0x85, 0x2028, 0x2029].contains(character)
        case .ranges(let ranges): isIn = ranges.contains { $0.contains(character) }
        case .category(let name): isIn = Self.isIn(category: name, character)
        }
        return isIn != isNegated
    }

    /// The names of general categories and of PCRE's own properties.
    static let categories: Set<Name> = Set(
        names: """
            C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu L& M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S \
            Sc Sk Sm So Z Zl Zp Zs Any Xan Xps Xsp Xwd
            """.split(separator: " ").map(String.init))

    private static func isIn(category name: String, _ character: UInt32) -> Bool {
        let category = category(of: character)
        let isAlphanumeric = category.hasBytePrefix("L") || category.hasBytePrefix("N")
        switch name {
        case "Any": return true
        case "Xan": return isAlphanumeric
        case "Xwd": return isAlphanumeric || ["Mn", "Pc"].contains(category)
        case "Xsp", "Xps":
            return category.hasBytePrefix("Z") || (0x09...0x0D).contains(character)
                || character == 0x85
        case "L&": return ["Lu", "Ll", "Lt"].contains(category)
        default: return category.hasBytePrefix(name)
        }
    }

    /// Returns the two-letter name of a character's general category.
    ///
    /// Source: Unicode Standard, table 4-4.
    private static func category(of character: UInt32) -> String {
        guard let scalar = Unicode.Scalar(character) else { return "Cs" }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter: return "Lu"
        case .lowercaseLetter: return "Ll"
        case .titlecaseLetter: return "Lt"
        case .modifierLetter: return "Lm"
        case .otherLetter: return "Lo"
        case .nonspacingMark: return "Mn"
        case .spacingMark: return "Mc"
        case .enclosingMark: return "Me"
        case .decimalNumber: return "Nd"
        case .letterNumber: return "Nl"
        case .otherNumber: return "No"
        case .connectorPunctuation: return "Pc"
        case .dashPunctuation: return "Pd"
        case .openPunctuation: return "Ps"
        case .closePunctuation: return "Pe"
        case .initialPunctuation: return "Pi"
        case .finalPunctuation: return "Pf"
        case .otherPunctuation: return "Po"
        case .mathSymbol: return "Sm"
        case .currencySymbol: return "Sc"
        case .modifierSymbol: return "Sk"
        case .otherSymbol: return "So"
        case .spaceSeparator: return "Zs"
        case .lineSeparator: return "Zl"
        case .paragraphSeparator: return "Zp"
        case .control: return "Cc"
        case .format: return "Cf"
        case .surrogate: return "Cs"
        case .privateUse: return "Co"
        case .unassigned: return "Cn"
        @unknown default: return "Cn"
        }
    }
}
