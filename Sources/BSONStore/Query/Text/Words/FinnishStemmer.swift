/// A stemmer for Finnish words.
///
/// Source: Snowball, "Finnish stemming algorithm", in the form that MongoDB's libstemmer has.
struct FinnishStemmer: Stemmer {
    var word: StemWord
    private var first = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyäö".unicodeScalars)
    private static let vowelsBeforeI = Set("aeiouäö".unicodeScalars)
    private static let beforeParticle = Set("aeiouyäönt".unicodeScalars)
    private static let lastVowels = Set("aäei".unicodeScalars)

    mutating func run() {
        first = word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        particle()
        possessive()
        let hadCase = removeCase()
        compared()
        if hadCase { pluralI() } else { pluralT() }
        guard word.count >= first else { return }
        tidy()
        undouble()
    }

    private static let particles = StemSuffixes([
        (true, "kin kaan kään ko kö han hän pa pä"), (false, "sti"),
    ])

    private mutating func particle() {
        guard let (count, isParticle) = Self.particles.longest(in: word, from: first),
            isParticle
                ? word.has(Self.beforeParticle, at: word.count - count - 1)
                : word.count - count >= second
        else { return }
        word.replaceLast(count)
    }

    private enum Possessive { case si, ni, delete, an, än, en }
    private static let possessives = StemSuffixes<Possessive>([
        (.si, "si"), (.ni, "ni"), (.delete, "nsa nsä mme nne"), (.an, "an"), (.än, "än"),
        (.en, "en"),
    ])
    private static let beforePossessives = StemSuffixes<Possessive>([
        (.an, "ta ssa sta lla lta na"), (.än, "tä ssä stä llä ltä nä"), (.en, "lle ine"),
    ])

    private mutating func possessive() {
        guard let (count, step) = Self.possessives.longest(in: word, from: first) else { return }
        switch step {
        case .si: if !word.ends(with: "k", before: count) { word.replaceLast(count) }
        case .ni:
            word.replaceLast(count)
            if word.ends(with: "kse") { word.replaceLast(1, by: "i") }
        case .delete: word.replaceLast(count)
        case .an, .än, .en:
            if Self.beforePossessives.longest(in: word, before: count)?.step == step {
                word.replaceLast(count)
            }
        }
    }

    /// Whether two equal vowels stand before the last letters and behind a place.
    private func isLong(before tail: Int, from limit: Int = 0) -> Bool {
        let last = word.count - tail - 1
        return last > limit && word.has(Self.vowelsBeforeI, at: last)
            && word[last] == word[last - 1]
    }

    /// Whether a vowel and `i` stand before the last letters and behind the first region's start.
    private func endsInI(before tail: Int) -> Bool {
        let last = word.count - tail - 1
        return last > first && word[last] == "i" && word.has(Self.vowelsBeforeI, at: last - 1)
    }

    private enum Case { case delete, h, afterI, seen, n, a, tta }
    private static let cases = StemSuffixes<Case>([
        (.delete, "lla na ssa ta lta sta lle ine ksi llä nä ssä tä ltä stä"),
        (.h, "han hen hin hon hän hön"), (.afterI, "den tten siin"), (.seen, "seen"), (.n, "n"),
        (.a, "a ä"), (.tta, "tta ttä"),
    ])

    /// Removes the ending of a grammatical case; returns whether the word had one.
    private mutating func removeCase() -> Bool {
        guard let (count, step) = Self.cases.longest(in: word, from: first) else { return false }
        let before = word.count - count - 1
        switch step {
        case .delete: word.replaceLast(count)
        case .h:
            guard word[before] == word[word.count - 2] else { return false }
            word.replaceLast(count)
        case .afterI: if endsInI(before: count) { word.replaceLast(count) } else { removeN() }
        case .seen:
            if isLong(before: count, from: first) { word.replaceLast(count) } else { removeN() }
        case .n: removeN()
        case .a:
            guard word.has(Self.vowels, at: before), word.lacks(Self.vowels, at: before - 1)
            else { return false }
            word.replaceLast(1)
        case .tta:
            guard word[before] == "e" else { return false }
            word.replaceLast(count)
        }
        return true
    }

    private mutating func removeN() {
        let isIllative = isLong(before: 1) || word.ends(with: "ie", before: 1)
        word.replaceLast(isIllative ? 2 : 1)
    }

    private static let comparisons = StemSuffixes([
        (true, "mpi mpa mpä mmi mma mmä"), (false, "impi impa impä immi imma immä eja ejä"),
    ])

    private mutating func compared() {
        guard let (count, isShort) = Self.comparisons.longest(in: word, from: second),
            !isShort || !word.ends(with: "po", before: count)
        else { return }
        word.replaceLast(count)
    }

    private mutating func pluralI() {
        if !word.remove("i", from: first) { _ = word.remove("j", from: first) }
    }

    private static let pluralComparisons = StemSuffixes([(true, "mma"), (false, "imma")])

    private mutating func pluralT() {
        let last = word.count - 1
        guard last > first, word[last] == "t", word.has(Self.vowels, at: last - 1)
        else { return }
        word.replaceLast(1)
        guard let (count, isShort) = Self.pluralComparisons.longest(in: word, from: second),
            !isShort || !word.ends(with: "po", before: count)
        else { return }
        word.replaceLast(count)
    }

    private mutating func tidy() {
        if isLong(before: 0, from: first) { word.replaceLast(1) }
        if word.count - 2 >= first, word.has(Self.lastVowels, at: word.count - 1),
            word.lacks(Self.vowels, at: word.count - 2)
        {
            word.replaceLast(1)
        }
        for ending in ["oj", "uj", "jo"]
        where word.count - 2 >= first && word.ends(with: ending) {
            word.replaceLast(1)
        }
    }

    /// Removes one of two equal letters before the last vowels.
    private mutating func undouble() {
        guard let last = word.letters.lastIndex(where: { !Self.vowels.contains($0) }),
            word[last] == word[last - 1]
        else { return }
        word.remove(1, before: word.count - last - 1)
    }
}
