/// The locales that collations may name, and the additional letters of some languages.
///
/// Source: MongoDB manual, "Collation Locales and Default Parameters"; CLDR's tailorings.
enum CollationTailoring {
    /// A base letter that forms separate letters with some marks, sorted behind another letter.
    struct Letter: Sendable {
        /// The letter after which it sorts.
        let after: Unicode.Scalar
        /// The place behind that letter, by mark; 0 stands for the letter without a mark.
        let marks: [UInt32: UInt32]
    }

    /// A rule of a locale that concerns more than letters with marks.
    enum Rule: Sendable {
        /// I is the capital of ı, and İ that of i.
        case dotlessI
        /// The characters of ASCII sort by their codes.
        case ascii
        /// Hiragana and katakana are equal on the first three levels.
        case kana
    }

    /// Returns the rule of a locale.
    ///
    /// Source: CLDR's tailorings of `tr`, `az`, `en_US_POSIX` and `ja`.
    static func rule(of locale: String) -> Rule? {
        switch locale {
        case "tr", "az": .dotlessI
        case "en_US_POSIX": .ascii
        case "ja", "ja@collation=unihan": .kana
        default: nil
        }
    }

    /// Returns the letters of a locale that differ from the root order, by their base letter.
    static func letters(of locale: String) -> [Unicode.Scalar: Letter] {
        let name = locale.split(atByte: "@").first.map(String.init) ?? locale
        return tailorings[name] ?? [:]
    }

    private static let ring: UInt32 = 0x30A
    private static let diaeresis: UInt32 = 0x308
    private static let acute: UInt32 = 0x301
    private static let ogonek: UInt32 = 0x328
    private static let cedilla: UInt32 = 0x327
    private static let caron: UInt32 = 0x30C
    private static let tilde: UInt32 = 0x303

    private static let swedish: [Unicode.Scalar: Letter] = [
        "a": Letter(after: "z", marks: [ring: 1, diaeresis: 2]),
        "æ": Letter(after: "z", marks: [0: 2]),
        "o": Letter(after: "z", marks: [diaeresis: 3]),
        "ø": Letter(after: "z", marks: [0: 3]),
    ]
    private static let danish: [Unicode.Scalar: Letter] = [
        "æ": Letter(after: "z", marks: [0: 1]),
        "a": Letter(after: "z", marks: [diaeresis: 1, ring: 3]),
        "ø": Letter(after: "z", marks: [0: 2]),
        "o": Letter(after: "z", marks: [diaeresis: 2]),
    ]
    private static let polish: [Unicode.Scalar: Letter] = [
        "a": Letter(after: "a", marks: [ogonek: 1]), "c": Letter(after: "c", marks: [acute: 1]),
        "e": Letter(after: "e", marks: [ogonek: 1]), "ł": Letter(after: "l", marks: [0: 1]),
        "n": Letter(after: "n", marks: [acute: 1]), "o": Letter(after: "o", marks: [acute: 1]),
        "s": Letter(after: "s", marks: [acute: 1]),
        "z": Letter(after: "z", marks: [acute: 1, 0x307: 2]),
    ]
    private static let turkish: [Unicode.Scalar: Letter] = [
        "c": Letter(after: "c", marks: [cedilla: 1]), "g": Letter(after: "g", marks: [0x306: 1]),
        "ı": Letter(after: "h", marks: [0: 1]),
        "o": Letter(after: "o", marks: [diaeresis: 1]),
        "s": Letter(after: "s", marks: [cedilla: 1]),
        "u": Letter(after: "u", marks: [diaeresis: 1]),
    ]
    private static let czech: [Unicode.Scalar: Letter] = [
        "c": Letter(after: "c", marks: [caron: 1]), "r": Letter(after: "r", marks: [caron: 1]),
        "s": Letter(after: "s", marks: [caron: 1]), "z": Letter(after: "z", marks: [caron: 1]),
    ]
    private static let spanish: [Unicode.Scalar: Letter] = [
        "n": Letter(after: "n", marks: [tilde: 1])
    ]
    private static let tailorings: [String: [Unicode.Scalar: Letter]] = [
        "sv": swedish, "fi": swedish, "da": danish, "nb": danish, "nn": danish, "no": danish,
        "pl": polish, "tr": turkish, "az": turkish, "cs": czech, "sk": czech, "es": spanish,
        "gl": spanish, "fil": spanish,
    ]

    /// The locales with rules; only these are accepted.
    static let locales: Set<String> = {
        let plain = """
            af am ar as az be bg bn bo bs bs_Cyrl ca chr cs cy da de de_AT dsb dz ee el en en_US \
            en_US_POSIX eo es et fa fa_AF fi fil fo fr fr_CA ga gl gu ha haw he hi hr hsb hu hy id \
            ig is it ja ka kk kl km kn ko kok ky lb lkt ln lo lt lv mk ml mn mr ms mt my nb ne nl \
            nn no om or pa pl ps pt ro ru se si sk sl smn sq sr sr_Latn sv sw ta te th to tr ug uk \
            ur uz vi wae yi yo zh zh_Hant zu
            """
        let variants = """
            ar@collation=compat bn@collation=traditional de@collation=phonebook \
            de@collation=search es@collation=search es@collation=traditional \
            fi@collation=traditional ja@collation=unihan kn@collation=traditional \
            ko@collation=search ko@collation=searchjl ko@collation=unihan ln@collation=phonetic \
            si@collation=dictionary sv@collation=reformed vi@collation=traditional \
            zh@collation=big5han zh@collation=gb2312han zh@collation=pinyin zh@collation=stroke \
            zh@collation=unihan zh@collation=zhuyin zh_Hant@collation=stroke
            """
        return Set((plain + " " + variants).split(separator: " ").map(String.init))
    }()
}
