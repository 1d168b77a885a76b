/// A stemmer for Hungarian words.
///
/// Source: Snowball, "Hungarian stemming algorithm", in the form that MongoDB's libstemmer has. It
/// takes õ and û for the long vowels, not ő and ű.
struct HungarianStemmer: Stemmer {
    var word: StemWord
    private var first = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouáéíóõöúûü".unicodeScalars)

    mutating func run() {
        first = region()
        remove(Self.instrumentals, afterDouble: true)
        if remove(Self.cases) { remove(Self.lastVowels) }
        remove(Self.specialCases)
        remove(Self.otherCases)
        remove(Self.factives, afterDouble: true)
        remove(Self.owned)
        remove(Self.singularOwners)
        remove(Self.pluralOwners)
        remove(Self.plurals)
    }

    /// Returns the place behind the first consonant of a word with a vowel at its start, and behind
    /// the first vowel of another.
    private func region() -> Int {
        guard word.has(Self.vowels, at: 0) else {
            let vowel = word.letters.firstIndex { Self.vowels.contains($0) }
            return vowel.map { $0 + 1 } ?? word.count
        }
        guard let consonant = word.letters.firstIndex(where: { !Self.vowels.contains($0) })
        else { return word.count }
        let rest = word.letters[consonant...]
        let cluster = Self.clusters.first { rest.starts(with: $0.unicodeScalars) }
        return consonant + (cluster?.unicodeScalars.count ?? 1)
    }

    /// The consonants that are written with more than one letter.
    private static let clusters = ["cs", "gy", "ly", "ny", "sz", "ty", "zs", "dzs"]
    private static let doubles = StemSuffixes([
        (
            (),
            """
            bb cc dd ff gg jj kk ll mm nn pp rr ccs ss zzs tt vv ggy lly nny tty ssz zz
            """
        )
    ])

    /// Suffixes with the vowels that take their places.
    private typealias Endings = StemSuffixes<String>

    /// Removes the longest suffix that a word has; returns `false` if it is not in the region.
    @discardableResult
    private mutating func remove(_ endings: Endings, afterDouble: Bool = false) -> Bool {
        guard let (count, vowel) = endings.longest(in: word), word.count - count >= first
        else { return false }
        if afterDouble {
            guard Self.doubles.longest(in: word, before: count) != nil else { return false }
            word.replaceLast(count)
            word.remove(1, before: 1)
        } else {
            word.replaceLast(count, by: vowel)
        }
        return true
    }

    private static let instrumentals = Endings([("", "al el")])
    private static let cases = Endings([
        (
            "",
            """
            ba ra be re ig nak nek val vel ul nál nél ból ról tól bõl rõl tõl ül n an ban en ben \
            képpen on ön képp kor t at et ként anként enként onként ot ért öt hez hoz höz vá vé
            """
        )
    ])
    private static let lastVowels = Endings([("a", "á"), ("e", "é")])
    private static let specialCases = Endings([("e", "én"), ("a", "án ánként")])
    private static let otherCases = Endings([
        ("", "stul astul stül estül"), ("a", "ástul"), ("e", "éstül"),
    ])
    private static let factives = Endings([("", "á é")])
    private static let owned = Endings([
        ("", "éi é ké aké eké oké öké"), ("a", "áéi áké"), ("e", "ééi éké éé"),
    ])
    private static let singularOwners = Endings([
        ("", "a ja d ad ed od öd e je nk unk ünk uk juk ük jük m am em om o"),
        ("a", "ád ánk ájuk ám á"), ("e", "éd énk éjük ém é"),
    ])
    private static let pluralOwners = Endings([
        (
            "",
            """
            id aid jaid eid jeid i ai jai ei jei itek eitek jeitek ik aik jaik eik jeik ink aink \
            jaink eink jeink aitok jaitok im aim jaim eim jeim
            """
        ),
        ("a", "áid ái áik áink áitok áim"), ("e", "éid éi éitek éik éink éim"),
    ])
    private static let plurals = Endings([("", "k ak ek ok ök"), ("a", "ák"), ("e", "ék")])
}
