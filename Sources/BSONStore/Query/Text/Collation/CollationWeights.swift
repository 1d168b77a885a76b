/// The weights of characters in the order of CLDR's root collation.
///
/// White space sorts first, then punctuation, symbols, currencies, digits, Latin letters, and the
/// letters of other scripts by code point.
///
/// Source: CLDR root collation chart, https://www.unicode.org/charts/collation/.
enum CollationWeights {
    /// The classes of characters in their order.
    enum Group: UInt32 {
        case whitespace = 1
        case punctuation
        case symbol
        case currency
        case digit
        case letter
    }

    /// The contribution of a character to the levels of a key.
    struct Element: Sendable {
        var weight: UInt32
        var isUpper = false
        /// Whether this is a variant form of the letter, which sorts between the cases.
        var isVariant = false
        /// Whether a stroke through the letter, or its joining to the next, counts as a mark.
        var hasStroke = false
        /// The form of a kana.
        var kana: Kana?
    }

    /// The form of a kana, which sorts by its sound.
    struct Kana: Sendable, Hashable {
        /// The script of a kana.
        enum Script: Sendable {
            case hiragana
            case katakana
            /// Katakana of half width.
            case narrow
        }

        var script: Script
        var isSmall = false
    }

    /// Returns the elements of a scalar other than a mark; empty for one that collation ignores.
    static func elements(of scalar: Unicode.Scalar) -> [Element] {
        scalar.value < 0x80 ? latinElements[Int(scalar.value)] : compute(scalar)
    }

    /// The elements of the most frequent characters.
    private static let latinElements = (0..<UInt8(0x80)).map { compute(Unicode.Scalar($0)) }

    private static func compute(_ scalar: Unicode.Scalar) -> [Element] {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control where !(0x09...0x0D).contains(scalar.value) && scalar.value != 0x85: return []
        case .format, .enclosingMark: return []
        case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            return [Element(weight: listed(.whitespace, scalar, whitespaces))]
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation:
            return [Element(weight: listed(.punctuation, scalar, punctuations))]
        case .mathSymbol, .modifierSymbol, .otherSymbol:
            return [Element(weight: listed(.symbol, scalar, symbols))]
        case .currencySymbol: return [Element(weight: listed(.currency, scalar, []))]
        case .decimalNumber:
            let value = digit(scalar) ?? 0
            return [
                Element(weight: weight(.digit, value), isVariant: scalar.value > 0x39)
            ]
        case .otherNumber, .letterNumber:
            return [Element(weight: weight(.digit, 0x2000 + scalar.value))]
        default: return letters(scalar)
        }
    }

    /// Returns a weight from its group and place.
    static func weight(_ group: Group, _ rank: UInt32) -> UInt32 { group.rawValue << 24 | rank }

    /// Returns the weight of a Latin letter, or of one that a language sorts behind it.
    static func latin(_ letter: Unicode.Scalar, sub: UInt32 = 0) -> UInt32 {
        weight(.letter, (letter.value - 0x60) << 8 | sub)
    }

    /// Returns the first weight of a number with a count of digits.
    static func number(digits: UInt32) -> UInt32 { weight(.digit, 0x1000 + digits) }

    /// Returns the value of a decimal digit of any script.
    static func digit(_ scalar: Unicode.Scalar) -> UInt32? {
        if (0x30...0x39).contains(scalar.value) { return scalar.value - 0x30 }
        guard scalar.value >= 0x80, scalar.properties.generalCategory == .decimalNumber else {
            return nil
        }
        return scalar.properties.numericValue.map { UInt32($0) }
    }

    /// Returns the weight of a mark on the second level.
    static func mark(_ scalar: Unicode.Scalar) -> UInt32 {
        if let place = marks.firstIndex(of: scalar.value) { return 0x24 + UInt32(place) }
        return 0x100 + scalar.value
    }

    /// The weight of a stroke through a letter on the second level.
    static let stroke: UInt32 = 0x2E

    /// Returns the letter in lower case if that is a single letter, else the letter itself.
    static func lowercase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.value < 0x80 {
            return (0x41...0x5A).contains(scalar.value)
                ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
        }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first ?? scalar : scalar
    }

    private static func letters(_ scalar: Unicode.Scalar) -> [Element] {
        let lower = lowercase(scalar)
        let isUpper = lower != scalar
        if (0x61...0x7A).contains(lower.value) {
            return [Element(weight: latin(lower), isUpper: isUpper)]
        }
        if let parts = expansions[lower] {
            return parts.enumerated().map { place, part in
                Element(
                    weight: latin(part), isUpper: isUpper, isVariant: true,
                    hasStroke: place == 0 && lower != "ĳ")
            }
        }
        if let element = kana(scalar) { return [element] }
        if let base = strokedLetters[lower] {
            return [Element(weight: latin(base), isUpper: isUpper, hasStroke: true)]
        }
        if let letter = extras[lower] {
            return [Element(weight: latin(letter.after, sub: letter.sub), isUpper: isUpper)]
        }
        if let form = variants(of: lower) {
            return elements(of: form).map {
                Element(weight: $0.weight, isUpper: isUpper, isVariant: true)
            }
        }
        let expanded = scalar.properties.uppercaseMapping.unicodeScalars
        if expanded.count > 1, !isUpper {
            return expanded.flatMap { elements(of: lowercase($0)) }.map {
                Element(weight: $0.weight, isVariant: true)
            }
        }
        return [Element(weight: weight(.letter, 0x1_0000 + lower.value), isUpper: isUpper)]
    }

    /// Returns the element of a kana: its sound as hiragana, with its form.
    private static func kana(_ scalar: Unicode.Scalar) -> Element? {
        var value = scalar.value
        var kana = Kana(script: .hiragana)
        switch value {
        case 0x3041...0x3096: break
        case 0x30A1...0x30F6:
            kana.script = .katakana
            value -= 0x60
        case 0xFF66...0xFF9D:
            guard let sound = narrowKana[value] else { return nil }
            kana.script = .narrow
            value = sound
        default: return nil
        }
        switch value {
        case 0x3041, 0x3043, 0x3045, 0x3047, 0x3049, 0x3063, 0x3083, 0x3085, 0x3087, 0x308E:
            kana.isSmall = true
            value += 1
        case 0x3095, 0x3096:
            kana.isSmall = true
            value = value == 0x3095 ? 0x304B : 0x3051
        default: break
        }
        return Element(weight: weight(.letter, 0x1_0000 + value), kana: kana)
    }

    /// The hiragana of katakana of half width.
    private static let narrowKana: [UInt32: UInt32] = {
        let sounds = "をぁぃぅぇぉゃゅょっーあいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん"
        var kana: [UInt32: UInt32] = [:]
        for (place, sound) in sounds.unicodeScalars.enumerated() {
            if sound != "ー" { kana[0xFF66 + UInt32(place)] = sound.value }
        }
        return kana
    }()

    /// Returns the usual form of a letter that has several: full width, the long s, the final sigma
    /// and other Greek and Cyrillic forms.
    private static func variants(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0xB5: "\u{3BC}"
        case 0x17F: "s"
        case 0x3C2: "\u{3C3}"
        case 0x3D0: "\u{3B2}"
        case 0x3D1: "\u{3B8}"
        case 0x3D5: "\u{3C6}"
        case 0x3D6: "\u{3C0}"
        case 0x3F0: "\u{3BA}"
        case 0x3F1: "\u{3C1}"
        case 0x3F5: "\u{3B5}"
        case 0x1C80: "\u{432}"
        case 0x1C81: "\u{434}"
        case 0x1C82: "\u{43E}"
        case 0x1C83: "\u{441}"
        case 0x1C84, 0x1C85: "\u{442}"
        case 0x1C86: "\u{44A}"
        case 0x1C87: "\u{463}"
        case 0x1C88: "\u{A64B}"
        case 0x30FD, 0x30FE: Unicode.Scalar(scalar.value - 0x60)
        case 0xFF41...0xFF5A: Unicode.Scalar(scalar.value - 0xFEE0)
        default: nil
        }
    }

    private static func listed(
        _ group: Group, _ scalar: Unicode.Scalar, _ order: [Unicode.Scalar]
    ) -> UInt32 {
        if scalar.value < 0x80 || group == .whitespace, let place = order.firstIndex(of: scalar) {
            return weight(group, UInt32(place))
        }
        return weight(group, 0x100 + scalar.value)
    }

    private static let whitespaces: [Unicode.Scalar] = [
        "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}", " ",
    ]
    private static let punctuations = Array("_-,;:!?.'\"()[]{}@*/\\&#%".unicodeScalars)
    private static let symbols = Array("`^+<=>|~".unicodeScalars)

    /// The usual marks in the order of their second weights.
    private static let marks: [UInt32] = [
        0x301, 0x300, 0x306, 0x302, 0x30C, 0x30A, 0x309, 0x308, 0x30B, 0x303, 0x338, 0x307, 0x327,
        0x328, 0x304, 0x31B, 0x323,
    ]
    private static let expansions: [Unicode.Scalar: [Unicode.Scalar]] = [
        "æ": ["a", "e"], "œ": ["o", "e"], "ß": ["s", "s"], "ĳ": ["i", "j"],
    ]
    private static let strokedLetters: [Unicode.Scalar: Unicode.Scalar] = [
        "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ƀ": "b",
    ]
    private static let extras: [Unicode.Scalar: (after: Unicode.Scalar, sub: UInt32)] = [
        "ð": ("d", 0x80), "ə": ("e", 0x80), "ı": ("i", 0x80), "ĸ": ("q", 0x80),
        "ŋ": ("n", 0x80), "þ": ("z", 0x80),
    ]
}
