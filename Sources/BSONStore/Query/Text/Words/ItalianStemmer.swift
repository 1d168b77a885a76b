/// A stemmer for Italian words.
///
/// Source: Snowball, "Italian stemming algorithm", in the form that MongoDB's libstemmer has.
struct ItalianStemmer: Stemmer {
    var word: StemWord
    private var verbs = 0
    private var first = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouàèìòù".unicodeScalars)
    private static let lastVowels = Set("aeioàèìò".unicodeScalars)

    mutating func run() {
        word.exchange(["á": "à", "é": "è", "í": "ì", "ó": "ò", "ú": "ù"])
        for index in word.letters.indices where word[index] == "u" && word[index - 1] == "q" {
            word[index] = "U"
        }
        for index in word.letters.indices
        where word.has(Self.vowels, at: index - 1) && word.has(Self.vowels, at: index + 1) {
            word.exchange(at: index, ["u": "U", "i": "I"])
        }
        verbs = word.verbRegion(Self.vowels)
        first = word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        pronoun()
        if !standard(), let (count, _) = Self.verbSuffixes.longest(in: word, from: verbs) {
            word.replaceLast(count)
        }
        vowel()
        word.exchange(["I": "i", "U": "u"])
    }

    private static let pronouns = StemSuffixes([
        (
            (),
            """
            ci gli la le li lo mi ne si ti vi sene gliela gliele glieli glielo gliene mela mele \
            meli melo mene tela tele teli telo tene cela cele celi celo cene vela vele veli velo \
            vene
            """
        )
    ])
    private static let beforePronouns = StemSuffixes([(false, "ando endo"), (true, "ar er ir")])

    private mutating func pronoun() {
        guard let pronoun = Self.pronouns.longest(in: word),
            let (count, isInfinitive) = Self.beforePronouns.longest(
                in: word, before: pronoun.count),
            word.count - pronoun.count - count >= verbs
        else { return }
        word.replaceLast(pronoun.count, by: isInfinitive ? "e" : "")
    }

    private enum Step { case delete, actor, logy, ution, ence, amento, amente, ita, iva }
    private static let steps = StemSuffixes<Step>([
        (
            .delete,
            """
            anza anze ico ici ica ice iche ichi ismo ismi abile abili ibile ibili ista iste isti \
            istà istè istì oso osi osa ose mente atrice atrici ante anti
            """
        ),
        (.actor, "azione azioni atore atori"), (.logy, "logia logie"),
        (.ution, "uzione uzioni usione usioni"), (.ence, "enza enze"),
        (.amento, "amento amenti imento imenti"), (.amente, "amente"), (.ita, "ità"),
        (.iva, "ivo ivi iva ive"),
    ])

    private mutating func standard() -> Bool {
        guard let (count, step) = Self.steps.longest(in: word) else { return false }
        let region =
            switch step {
            case .amento: verbs
            case .amente: first
            case .delete, .actor, .logy, .ution, .ence, .ita, .iva: second
            }
        guard word.count - count >= region else { return false }
        switch step {
        case .delete, .amento: word.replaceLast(count)
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
                _ = ["os", "ic", "abil"].contains { word.remove($0, from: second) }
            }
        case .ita:
            word.replaceLast(count)
            _ = ["abil", "ic", "iv"].contains { word.remove($0, from: second) }
        case .iva:
            word.replaceLast(count)
            if word.remove("at", from: second) { _ = word.remove("ic", from: second) }
        }
        return true
    }

    private static let verbSuffixes = StemSuffixes([
        (
            (),
            """
            ammo ando ano are arono asse assero assi assimo ata ate ati ato ava avamo avano avate \
            avi avo emmo enda ende endi endo erà erai eranno ere erebbe erebbero erei eremmo eremo \
            ereste eresti erete erò erono essero ete eva evamo evano evate evi evo Yamo iamo immo \
            irà irai iranno ire irebbe irebbero irei iremmo iremo ireste iresti irete irò irono \
            isca iscano isce isci isco iscono issero ita ite iti ito iva ivamo ivano ivate ivi ivo \
            ono uta ute uti uto ar ir
            """
        )
    ])

    private mutating func vowel() {
        if word.count > verbs, word.has(Self.lastVowels, at: word.count - 1) {
            word.replaceLast(1)
            _ = word.remove("i", from: verbs)
        }
        if word.ends(with: "ch") || word.ends(with: "gh"), word.count - 2 >= verbs {
            word.replaceLast(1)
        }
    }
}
