/// A writer of the sort key of one text: the weights of one level after the other.
///
/// Weights are written as characters above the separator, so that a key is a text whose UTF-8 sorts
/// in the order of the weights.
///
/// Source: Unicode Technical Standard 10, sections 7 and 8.
struct CollationKey {
    private let options: Collation.Options
    private let tailoring: [Unicode.Scalar: CollationTailoring.Letter]
    private let rule: CollationTailoring.Rule?
    private var primaries = String.UnicodeScalarView()
    private var secondaries: [UInt32] = []
    private var cases: [UInt32] = []
    private var tertiaries: [UInt32] = []
    private var quaternaries: [UInt32] = []
    /// Whether the previous character was ignored, so that its marks are ignored too.
    private var followsShifted = false

    private static let common: UInt32 = 0x20
    private static let upperFirst: UInt32 = 0x18
    private static let variant: UInt32 = 0x24
    private static let upper: UInt32 = 0x28
    /// The tertiary weights of small hiragana, small katakana, and so on; hiragana are common.
    private static let kana: [CollationWeights.Kana: UInt32] = [
        .init(script: .hiragana, isSmall: true): 0x1A, .init(script: .hiragana): common,
        .init(script: .katakana, isSmall: true): 0x29, .init(script: .narrow, isSmall: true): 0x2A,
        .init(script: .katakana): 0x2B, .init(script: .narrow): 0x2C,
    ]
    private static let separator: Unicode.Scalar = "\u{1}"
    /// The base of weights that count on the first levels; they sort behind all that are ignored
    /// there.
    private static let counted: UInt32 = 0xF000
    /// The number of digits above which numbers compare in parts.
    private static let digitsMax = 254

    init(options: Collation.Options) {
        self.options = options
        tailoring = CollationTailoring.letters(of: options.locale)
        rule = CollationTailoring.rule(of: options.locale)
    }

    /// Returns the key of a text; a writer serves one text only.
    mutating func key(of text: String) -> String {
        let scalars = UnicodeDecomposition.scalars(text)
        read(scalars)
        if options.backwards { secondaries.reverse() }
        var levels: [[UInt32]] = []
        if options.strength >= 2 { levels.append(secondaries) }
        if options.caseLevel { levels.append(cases) }
        if options.strength >= 3 { levels.append(tertiaries) }
        for level in levels {
            primaries.append(Self.separator)
            for weight in level { append(weight) }
        }
        if options.strength >= 4, options.alternate == .shifted || rule == .kana {
            primaries.append(Self.separator)
            for weight in quaternaries { append(weight) }
        }
        if options.strength >= 5 {
            primaries.append(Self.separator)
            primaries.append(contentsOf: scalars)
        }
        return String(primaries)
    }

    private mutating func append(_ value: UInt32) {
        if let scalar = Unicode.Scalar(value) { primaries.append(scalar) }
    }

    private mutating func read(_ scalars: [Unicode.Scalar]) {
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            if options.numericOrdering, CollationWeights.digit(scalar) != nil {
                index = readNumber(scalars, from: index)
            } else if let count = readTailored(scalars, at: index) {
                index += count
            } else {
                read(scalar)
                index += 1
            }
        }
    }

    /// Reads a letter with marks that the locale treats as a separate letter.
    private mutating func readTailored(_ scalars: [Unicode.Scalar], at index: Int) -> Int? {
        if let rule, let count = read(scalars, at: index, by: rule) { return count }
        guard !tailoring.isEmpty else { return nil }
        let lower = CollationWeights.lowercase(scalars[index])
        guard let letter = tailoring[lower] else { return nil }
        let mark = index + 1 < scalars.count ? scalars[index + 1].value : 0
        guard let sub = letter.marks[mark] ?? letter.marks[0] else { return nil }
        let isUpper = lower != scalars[index]
        add(CollationWeights.latin(letter.after, sub: sub), isUpper ? Self.upper : Self.common)
        return letter.marks[mark] != nil && mark != 0 ? 2 : 1
    }

    /// Reads a character by the locale's rule; `nil` if the rule does not concern it.
    private mutating func read(
        _ scalars: [Unicode.Scalar], at index: Int, by rule: CollationTailoring.Rule
    ) -> Int? {
        let scalar = scalars[index]
        switch rule {
        case .dotlessI:
            guard scalar == "I" else { return nil }
            let hasDot = index + 1 < scalars.count && scalars[index + 1] == "\u{307}"
            add(
                hasDot ? CollationWeights.latin("i") : CollationWeights.latin("h", sub: 1),
                Self.upper)
            return hasDot ? 2 : 1
        case .ascii:
            guard (0x20...0x7F).contains(scalar.value) else { return nil }
            add(CollationWeights.latin("a", sub: scalar.value), Self.common)
            return 1
        case .kana: return nil
        }
    }

    private mutating func read(_ scalar: Unicode.Scalar) {
        // Narrow forms of the marks on kana are letters of their own.
        if scalar == "\u{FF9E}" || scalar == "\u{FF9F}" {
            return read(scalar == "\u{FF9E}" ? "\u{3099}" : "\u{309A}")
        }
        if UnicodeDecomposition.isMark(scalar) {
            guard !followsShifted else { return }
            secondaries.append(CollationWeights.mark(scalar))
            return
        }
        for element in CollationWeights.elements(of: scalar) {
            followsShifted = isShifted(element.weight)
            guard !followsShifted else {
                quaternaries.append(0x100 + element.weight >> 12)
                quaternaries.append(0x100 + element.weight & 0xFFF)
                continue
            }
            if let kana = element.kana {
                read(kana, element.weight)
                continue
            }
            let case_ =
                element.isUpper ? Self.upper : element.isVariant ? Self.variant : Self.common
            add(element.weight, case_)
            if element.hasStroke { secondaries.append(CollationWeights.stroke) }
        }
    }

    /// Reads a kana; in Japanese hiragana and katakana differ on the fourth level only.
    ///
    /// Source: CLDR's tailoring of `ja`.
    private mutating func read(_ kana: CollationWeights.Kana, _ weight: UInt32) {
        var level = kana
        if rule == .kana { level.script = .hiragana }
        add(weight, Self.kana[level] ?? Self.common)
        if rule == .kana, kana.script != .hiragana {
            quaternaries[quaternaries.count - 1] = Self.counted + 1
        }
    }

    private func isShifted(_ weight: UInt32) -> Bool {
        guard options.alternate == .shifted else { return false }
        let last: CollationWeights.Group =
            options.maxVariable == .space ? .whitespace : .punctuation
        return weight >> 24 <= last.rawValue
    }

    private mutating func add(_ weight: UInt32, _ variant: UInt32) {
        append(0x100 + weight >> 12)
        append(0x100 + weight & 0xFFF)
        secondaries.append(Self.common)
        quaternaries.append(Self.counted)
        followsShifted = false
        let isUpper = variant == Self.upper
        let upper = options.caseFirst == .upper ? Self.upperFirst : Self.upper
        cases.append(isUpper ? upper : Self.common)
        tertiaries.append(isUpper ? upper : variant)
    }

    /// Reads digits as one number: their count without leading zeros, then the digits; longer ones
    /// in parts, each without leading zeros, as ICU does.
    private mutating func readNumber(_ scalars: [Unicode.Scalar], from start: Int) -> Int {
        var end = start
        var digits: [UInt32] = []
        while end < scalars.count, let digit = CollationWeights.digit(scalars[end]) {
            digits.append(digit)
            end += 1
        }
        var next = 0
        repeat {
            while next < digits.count - 1, digits[next] == 0 { next += 1 }
            let part = digits[next..<min(next + Self.digitsMax, digits.count)]
            add(CollationWeights.number(digits: UInt32(part.count)), Self.common)
            for digit in part { add(CollationWeights.weight(.digit, digit), Self.common) }
            next += part.count
        } while next < digits.count
        return end
    }
}
