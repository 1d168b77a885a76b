/// A stemmer for Russian words.
///
/// Source: Snowball, "Russian stemming algorithm", in the form that MongoDB's libstemmer has. It
/// does not take ё for a vowel.
struct RussianStemmer: Stemmer {
    var word: StemWord
    private var verbs = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("аеиоуыэюя".unicodeScalars)
    private static let beforeEndings: Set<Unicode.Scalar> = ["а", "я"]

    mutating func run() {
        (verbs, second) = (word.count, word.count)
        if let vowel = word.letters.firstIndex(where: { Self.vowels.contains($0) }) {
            verbs = vowel + 1
            if let first = word.region(Self.vowels) {
                second = word.region(Self.vowels, after: first) ?? word.count
            }
        }
        if !remove(Self.gerunds) { inflected() }
        _ = word.remove("и", from: verbs)
        if let (count, _) = Self.derivations.longest(in: word, from: max(verbs, second)) {
            word.replaceLast(count)
        }
        tidy()
    }

    /// Suffixes, and whether they need an `а` or `я` before them.
    private typealias Endings = StemSuffixes<Bool>

    /// Removes the longest of the suffixes with which the word ends; returns whether there was one.
    private mutating func remove(_ endings: Endings) -> Bool {
        guard let (count, needsVowel) = endings.longest(in: word, from: verbs) else { return false }
        let before = word.count - count - 1
        guard !needsVowel || before >= verbs && word.has(Self.beforeEndings, at: before)
        else { return false }
        word.replaceLast(count)
        return true
    }

    private mutating func inflected() {
        _ = remove(Self.reflexives)
        if remove(Self.adjectives) {
            _ = remove(Self.participles)
        } else if !remove(Self.verbEndings) {
            _ = remove(Self.nouns)
        }
    }

    private static let gerunds = Endings([
        (true, "в вши вшись"), (false, "ив ыв ивши ывши ившись ывшись"),
    ])
    private static let reflexives = Endings([(false, "сь ся")])
    private static let adjectives = Endings([
        (
            false,
            """
            ее ие ое ые ими ыми ей ий ой ый ем им ом ым его ого ему ому их ых ею ою ую юю ая яя
            """
        )
    ])
    private static let participles = Endings([(true, "ем нн вш щ ющ"), (false, "ивш ывш ующ")])
    private static let verbEndings = Endings([
        (true, "ла на ете йте ли й л ем н ло но нно ет ют ны ть ешь"),
        (
            false,
            """
            ила ыла ена ите ейте уйте или ыли ей уй ил ыл им ым ен ило ыло ено ует ит ыт уют ят \
            ены ить ыть ишь ю ую
            """
        ),
    ])
    private static let nouns = Endings([
        (
            false,
            """
            а ев ов е ие ье и еи ии ами ями иями й ей ией ий ой ам ем ием ом ям иям о у ах ях иях \
            ы ь ю ию ью я ия ья
            """
        )
    ])
    private static let derivations = StemSuffixes([((), "ост ость")])

    private mutating func tidy() {
        if word.remove("ь", from: verbs) { return }
        if !word.remove("ейше", from: verbs) { _ = word.remove("ейш", from: verbs) }
        if word.ends(with: "нн"), word.count - 2 >= verbs { word.replaceLast(1) }
    }
}
