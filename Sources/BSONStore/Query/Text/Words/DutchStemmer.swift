/// A stemmer for Dutch words.
///
/// Source: Snowball, "Dutch stemming algorithm" by Porter, in the form that MongoDB's libstemmer
/// has.
struct DutchStemmer: Stemmer {
    var word: StemWord
    private var first = 0
    private var second = 0
    private var hadE = false

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyè".unicodeScalars)
    private static let vowelsAndI = Set("aeiouyèI".unicodeScalars)
    private static let vowelsAndJ = Set("aeiouyèj".unicodeScalars)
    private static let unmarked: [Unicode.Scalar: Unicode.Scalar] = [
        "á": "a", "ä": "a", "é": "e", "ë": "e", "í": "i", "ï": "i", "ó": "o", "ö": "o",
        "ú": "u", "ü": "u",
    ]

    mutating func run() {
        word.exchange(Self.unmarked)
        markConsonants()
        markRegions()
        standard()
        hadE = removeE()
        heid()
        derived()
        undoubleVowel()
        word.exchange(["Y": "y", "I": "i"])
    }

    private mutating func markConsonants() {
        if word[0] == "y" { word[0] = "Y" }
        for index in word.letters.indices where word.has(Self.vowels, at: index - 1) {
            if word[index] == "y" {
                word[index] = "Y"
            } else if word[index] == "i", word.has(Self.vowels, at: index + 1) {
                word[index] = "I"
            }
        }
    }

    private mutating func markRegions() {
        (first, second) = (word.count, word.count)
        guard let region = word.region(Self.vowels) else { return }
        // libstemmer counts the bytes of UTF-8 when it looks for three letters.
        let isShort = region < 3 && word.letters[..<region].allSatisfy(\.isASCII)
        first = isShort ? 3 : region
        second = word.region(Self.vowels, after: region) ?? word.count
    }

    private enum Step { case heden, en, s }
    private static let steps = StemSuffixes<Step>([
        (.heden, "heden"), (.en, "en ene"), (.s, "s se"),
    ])

    private mutating func standard() {
        guard let (count, step) = Self.steps.longest(in: word), word.count - count >= first
        else { return }
        switch step {
        case .heden: word.replaceLast(count, by: "heid")
        case .en: removeEn(count)
        case .s:
            if word.lacks(Self.vowelsAndJ, at: word.count - count - 1) { word.replaceLast(count) }
        }
    }

    private mutating func removeEn(_ count: Int) {
        guard word.count - count >= first,
            word.lacks(Self.vowels, at: word.count - count - 1),
            !word.ends(with: "gem", before: count)
        else { return }
        word.replaceLast(count)
        undouble()
    }

    /// Removes the `e` at the end of the word, and returns whether it had one to remove.
    private mutating func removeE() -> Bool {
        guard word.lacks(Self.vowels, at: word.count - 2), word.remove("e", from: first)
        else { return false }
        undouble()
        return true
    }

    private mutating func undouble() {
        if word.ends(with: "dd") || word.ends(with: "kk") || word.ends(with: "tt") {
            word.replaceLast(1)
        }
    }

    private mutating func heid() {
        guard !word.ends(with: "c", before: 4), word.remove("heid", from: second) else { return }
        if word.ends(with: "en") { removeEn(2) }
    }

    private enum Derivation { case ing, ig, lijk, baar, bar }
    private static let derivations = StemSuffixes<Derivation>([
        (.ing, "end ing"), (.ig, "ig"), (.lijk, "lijk"), (.baar, "baar"), (.bar, "bar"),
    ])

    private mutating func derived() {
        guard let (count, step) = Self.derivations.longest(in: word), word.count - count >= second
        else { return }
        switch step {
        case .ing:
            word.replaceLast(count)
            if word.ends(with: "eig") || !word.remove("ig", from: second) { undouble() }
        case .ig: if !word.ends(with: "e", before: count) { word.replaceLast(count) }
        case .lijk:
            word.replaceLast(count)
            _ = removeE()
        case .baar: word.replaceLast(count)
        case .bar: if hadE { word.replaceLast(count) }
        }
    }

    /// Removes one of two equal vowels between the last consonants.
    private mutating func undoubleVowel() {
        let last = word.count - 1
        guard word.lacks(Self.vowelsAndI, at: last), let vowel = word[last - 1],
            ["a", "e", "o", "u"].contains(vowel), word[last - 2] == vowel,
            word.lacks(Self.vowels, at: last - 3)
        else { return }
        word.remove(1, before: 1)
    }
}
