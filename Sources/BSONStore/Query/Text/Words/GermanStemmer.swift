/// A stemmer for German words.
///
/// Source: Snowball, "German stemming algorithm", in the form that MongoDB's libstemmer has.
struct GermanStemmer {
    private var word: StemWord
    private var first = 0
    private var second = 0

    /// Returns the stem of a word in lower case that still has its marks.
    static func stem(of word: String) -> String {
        var stem = GermanStemmer(word: StemWord(word.replacingSharpS))
        stem.run()
        return stem.word.text
    }

    private init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyäöü".unicodeScalars)
    private static let beforeS = Set("bdfghklmnrt".unicodeScalars)
    private static let beforeST = Set("bdfghklmnt".unicodeScalars)

    private mutating func run() {
        for index in word.letters.indices
        where word.has(Self.vowels, at: index - 1) && word.has(Self.vowels, at: index + 1) {
            word.exchange(at: index, ["u": "U", "y": "Y"])
        }
        (first, second) = (word.count, word.count)
        if word.count >= 3, let region = word.region(Self.vowels) {
            first = max(region, 3)
            second = word.region(Self.vowels, after: region) ?? word.count
        }
        declined()
        compared()
        derived()
        word.exchange(["Y": "y", "U": "u", "ä": "a", "ö": "o", "ü": "u"])
    }

    private enum Declension { case em, e, s }
    private static let declensions = StemSuffixes<Declension>([
        (.em, "em ern er"), (.e, "e en es"), (.s, "s"),
    ])

    private mutating func declined() {
        guard let (count, step) = Self.declensions.longest(in: word), word.count - count >= first
        else { return }
        switch step {
        case .em: word.replaceLast(count)
        case .e:
            word.replaceLast(count)
            if word.ends(with: "niss") { word.replaceLast(1) }
        case .s: if word.has(Self.beforeS, at: word.count - 2) { word.replaceLast(1) }
        }
    }

    private static let comparisons = StemSuffixes([(false, "en er est"), (true, "st")])

    private mutating func compared() {
        guard let (count, isST) = Self.comparisons.longest(in: word), word.count - count >= first
        else { return }
        guard !isST || word.count >= 6 && word.has(Self.beforeST, at: word.count - 3)
        else { return }
        word.replaceLast(count)
    }

    private enum Derivation { case ung, ig, lich, keit }
    private static let derivations = StemSuffixes<Derivation>([
        (.ung, "end ung"), (.ig, "ig ik isch"), (.lich, "lich heit"), (.keit, "keit"),
    ])

    private mutating func derived() {
        guard let (count, step) = Self.derivations.longest(in: word), word.count - count >= second
        else { return }
        switch step {
        case .ung:
            word.replaceLast(count)
            if !word.ends(with: "eig") { _ = word.remove("ig", from: second) }
        case .ig: if !word.ends(with: "e", before: count) { word.replaceLast(count) }
        case .lich:
            word.replaceLast(count)
            _ = word.remove("er", from: first) || word.remove("en", from: first)
        case .keit:
            word.replaceLast(count)
            _ = word.remove("lich", from: second) || word.remove("ig", from: second)
        }
    }
}

extension String {
    fileprivate var replacingSharpS: String {
        var view = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            view.append(contentsOf: scalar == "ß" ? ["s", "s"] : [scalar])
        }
        return String(view)
    }
}
