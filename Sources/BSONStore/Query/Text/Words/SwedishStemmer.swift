/// A stemmer for Swedish words.
///
/// Source: Snowball, "Swedish stemming algorithm", in the form that MongoDB's libstemmer has.
struct SwedishStemmer: Stemmer {
    var word: StemWord
    private var first = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouyäåö".unicodeScalars)
    private static let beforeS = Set("bcdfghjklmnoprtvy".unicodeScalars)

    mutating func run() {
        first = word.nordicRegion(Self.vowels)
        inflected()
        if Self.pairs.longest(in: word, from: first) != nil { word.replaceLast(1) }
        if let (count, removed) = Self.derivations.longest(in: word, from: first) {
            word.replaceLast(removed ?? count)
        }
    }

    private static let inflections = StemSuffixes([
        (
            false,
            """
            a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er \
            heter or as arnas ernas ornas es ades andes ens arens hetens erns at andet het ast
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

    private static let pairs = StemSuffixes([((), "dd gd nn dt gt kt tt")])
    /// The suffixes with the number of letters to remove, `nil` for all.
    private static let derivations = StemSuffixes<Int?>([(nil, "lig ig els"), (1, "löst fullt")])
}
