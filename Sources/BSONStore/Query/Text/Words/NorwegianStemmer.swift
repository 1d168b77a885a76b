/// A stemmer for Norwegian words.
///
/// Source: Snowball, "Norwegian stemming algorithm", in the form that MongoDB's libstemmer has.
struct NorwegianStemmer: Stemmer {
    var word: StemWord
    private var first = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyæåø".unicodeScalars)
    private static let beforeS = Set("bcdfghjlmnoprtvyz".unicodeScalars)

    mutating func run() {
        first = word.nordicRegion(Self.vowels)
        inflected()
        if Self.pairs.longest(in: word, from: first) != nil { word.replaceLast(1) }
        if let (count, _) = Self.derivations.longest(in: word, from: first) {
            word.replaceLast(count)
        }
    }

    private enum Inflection { case delete, s, ert }
    private static let inflections = StemSuffixes<Inflection>([
        (
            .delete,
            """
            a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes \
            ens hetens ers ets et het ast
            """
        ),
        (.s, "s"), (.ert, "erte ert"),
    ])

    private mutating func inflected() {
        guard let (count, step) = Self.inflections.longest(in: word, from: first)
        else { return }
        switch step {
        case .delete: word.replaceLast(count)
        case .s:
            let before = word.count - 2
            let isKS = word[before] == "k" && word.lacks(Self.vowels, at: before - 1)
            if isKS || word.has(Self.beforeS, at: before) { word.replaceLast(1) }
        case .ert: word.replaceLast(count, by: "er")
        }
    }

    private static let pairs = StemSuffixes([((), "dt vt")])
    private static let derivations = StemSuffixes([
        ((), "leg eleg ig eig lig elig els lov elov slov hetslov")
    ])
}
