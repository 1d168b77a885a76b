/// A stemmer for Danish words.
///
/// Source: Snowball, "Danish stemming algorithm", in the form that MongoDB's libstemmer has.
struct DanishStemmer: Stemmer {
    var word: StemWord
    private var first = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyæåø".unicodeScalars)
    private static let beforeS = Set("abcdfghjklmnoprtvyzå".unicodeScalars)

    mutating func run() {
        first = word.nordicRegion(Self.vowels)
        inflected()
        pair()
        derived()
        double()
    }

    private static let inflections = StemSuffixes([
        (
            false,
            """
            hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es \
            endes erendes enes ernes eres ens hedens erens ers ets erets et eret
            """
        ),
        (true, "s"),
    ])

    private mutating func inflected() {
        guard let (count, isS) = Self.inflections.longest(in: word, from: first),
            !isS || word.has(Self.beforeS, at: word.count - 2)
        else { return }
        word.replaceLast(count)
    }

    private static let pairs = StemSuffixes([((), "gd dt gt kt")])

    private mutating func pair() {
        if Self.pairs.longest(in: word, from: first) != nil { word.replaceLast(1) }
    }

    private static let derivations = StemSuffixes([(false, "ig lig elig els"), (true, "løst")])

    private mutating func derived() {
        if word.ends(with: "igst") { word.replaceLast(2) }
        guard let (count, isLess) = Self.derivations.longest(in: word, from: first)
        else { return }
        if isLess {
            word.replaceLast(1)
        } else {
            word.replaceLast(count)
            pair()
        }
    }

    /// Removes the last of two equal consonants or digits.
    private mutating func double() {
        let last = word.count - 1
        guard last >= first, word.lacks(Self.vowels, at: last), word[last] == word[last - 1]
        else { return }
        word.replaceLast(1)
    }
}
