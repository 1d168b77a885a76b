/// A stemmer for Spanish words.
///
/// Source: Snowball, "Spanish stemming algorithm", in the form that MongoDB's libstemmer has.
struct SpanishStemmer: Stemmer {
    var word: StemWord
    private var verbs = 0
    private var first = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouáéíóúü".unicodeScalars)

    mutating func run() {
        verbs = word.verbRegion(Self.vowels)
        first = word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        pronoun()
        if !standard(), !verbOfY() { verb() }
        residual()
        word.exchange(["á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u"])
    }

    private static let pronouns = StemSuffixes([
        ((), "me se sela selo selas selos la le lo las les los nos")
    ])
    private static let beforePronouns = StemSuffixes<String>([
        ("iendo", "iéndo"), ("ando", "ándo"), ("ar", "ár"), ("er", "ér"), ("ir", "ír"),
        ("", "ando iendo ar er ir"), ("u", "yendo"),
    ])

    private mutating func pronoun() {
        guard let pronoun = Self.pronouns.longest(in: word),
            let (count, text) = Self.beforePronouns.longest(in: word, before: pronoun.count),
            word.count - pronoun.count - count >= verbs
        else { return }
        switch text {
        case "": word.replaceLast(pronoun.count)
        case "u":
            guard word.ends(with: "u", before: pronoun.count + count) else { return }
            word.replaceLast(pronoun.count)
        default: word.replaceLast(pronoun.count + count, by: text)
        }
    }

    private enum Step { case delete, actor, logy, ution, ence, amente, mente, idad, iva }
    private static let steps = StemSuffixes<Step>([
        (
            .delete,
            """
            anza anzas ico ica icos icas ismo ismos able ables ible ibles ista istas oso osa osos \
            osas amiento amientos imiento imientos
            """
        ),
        (.actor, "adora ador ación adoras adores aciones ante antes ancia ancias"),
        (.logy, "logía logías"), (.ution, "ución uciones"), (.ence, "encia encias"),
        (.amente, "amente"), (.mente, "mente"), (.idad, "idad idades"),
        (.iva, "iva ivo ivas ivos"),
    ])

    private mutating func standard() -> Bool {
        guard let (count, step) = Self.steps.longest(in: word) else { return false }
        let place = word.count - count
        guard place >= (step == .amente ? first : second) else { return false }
        switch step {
        case .delete: word.replaceLast(count)
        case .actor:
            word.replaceLast(count)
            _ = word.remove("ic", from: second)
        case .logy: word.replaceLast(count, by: "log")
        case .ution: word.replaceLast(count, by: "u")
        case .ence: word.replaceLast(count, by: "ente")
        case .amente:
            word.replaceLast(count)
            if word.remove("iv", from: second) {
                _ = word.remove("at", from: second)
            } else {
                _ = ["os", "ic", "ad"].contains { word.remove($0, from: second) }
            }
        case .mente:
            word.replaceLast(count)
            _ = ["ante", "able", "ible"].contains { word.remove($0, from: second) }
        case .idad:
            word.replaceLast(count)
            _ = ["abil", "ic", "iv"].contains { word.remove($0, from: second) }
        case .iva:
            word.replaceLast(count)
            _ = word.remove("at", from: second)
        }
        return true
    }

    private static let verbsOfY = StemSuffixes([
        ((), "ya ye yan yen yeron yendo yo yó yas yes yais yamos")
    ])

    private mutating func verbOfY() -> Bool {
        guard let (count, _) = Self.verbsOfY.longest(in: word, from: verbs),
            word.ends(with: "u", before: count)
        else { return false }
        word.replaceLast(count)
        return true
    }

    private static let verbSuffixes = StemSuffixes([
        (true, "en es éis emos"),
        (
            false,
            """
            arían arías arán arás aríais aría aréis aríamos aremos ará aré erían erías erán erás \
            eríais ería eréis eríamos eremos erá eré irían irías irán irás iríais iría iréis \
            iríamos iremos irá iré aba ada ida ía ara iera ad ed id ase iese aste iste an aban ían \
            aran ieran asen iesen aron ieron ado ido ando iendo ió ar er ir as abas adas idas ías \
            aras ieras ases ieses ís áis abais íais arais ierais aseis ieseis asteis isteis ados \
            idos amos ábamos íamos imos áramos iéramos iésemos ásemos
            """
        ),
    ])

    private mutating func verb() {
        guard let (count, mayFollowGU) = Self.verbSuffixes.longest(in: word, from: verbs)
        else { return }
        let isGU = mayFollowGU && word.ends(with: "gu", before: count)
        word.replaceLast(isGU ? count + 1 : count)
    }

    private static let residuals = StemSuffixes([(false, "os a o á í ó"), (true, "e é")])

    private mutating func residual() {
        guard let (count, isE) = Self.residuals.longest(in: word), word.count - count >= verbs
        else { return }
        word.replaceLast(count)
        if isE, word.ends(with: "gu") { _ = word.remove("u", from: verbs) }
    }
}
