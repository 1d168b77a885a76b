/// A stemmer for Romanian words.
///
/// Source: Snowball, "Romanian stemming algorithm", in the form that MongoDB's libstemmer has. It
/// knows ş and ţ with a cedilla, not with a comma below.
struct RomanianStemmer: Stemmer {
    var word: StemWord
    private var verbs = 0
    private var first = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouăâî".unicodeScalars)

    mutating func run() {
        for index in word.letters.indices
        where word.has(Self.vowels, at: index - 1) && word.has(Self.vowels, at: index + 1) {
            word.exchange(at: index, ["u": "U", "i": "I"])
        }
        verbs = word.verbRegion(Self.vowels)
        first = word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        declined()
        if !standard() { verb() }
        if let (count, _) = Self.lastVowels.longest(in: word), word.count - count >= verbs {
            word.replaceLast(count)
        }
        word.exchange(["I": "i", "U": "u"])
    }

    private static let declensions = StemSuffixes([
        ("", "ul ului"), ("a", "aua"), ("e", "ea ele elor"),
        ("i", "ii iua iei iile iilor ilor ile"), ("at", "atei"), ("aţi", "aţie aţia"),
    ])

    private mutating func declined() {
        guard let (count, ending) = Self.declensions.longest(in: word), word.count - count >= first,
            !word.ends(with: "abile")
        else { return }
        word.replaceLast(count, by: ending)
    }

    private static let combinations = StemSuffixes([
        ("abil", "abilitate abilitati abilităi abilităţi"), ("ibil", "ibilitate"),
        ("iv", "ivitate ivitati ivităi ivităţi"),
        (
            "ic",
            """
            icala iciva icale icitate icive icali icatori icitati icivi icităi icităţi ical icator \
            iciv icală icivă
            """
        ),
        (
            "at",
            """
            ativa aţiune atoare ătoare ative atori ători ativi ator ător ativ ativă
            """
        ),
        ("it", "itiva iţiune itoare itive itori itivi itor itiv itivă"),
    ])

    private enum Step { case delete, tion, ist }
    private static let steps = StemSuffixes<Step>([
        (
            .delete,
            """
            ica abila ibila oasa ata ita anta uta iva ic ice abile ibile oase ate itate ite ante \
            ute ive ici abili ibili atori osi ati itati iti anti uti ivi ităi oşi ităţi abil ibil \
            ator os at it ant ut iv ică abilă ibilă oasă ată ită antă ută ivă
            """
        ),
        (.tion, "iune iuni"), (.ist, "ista isme iste isti işti ism ist istă"),
    ])

    /// Removes suffixes of nouns and adjectives; returns `false` if there are none.
    private mutating func standard() -> Bool {
        var isRemoved = false
        while let (count, ending) = Self.combinations.longest(in: word),
            word.count - count >= first
        {
            word.replaceLast(count, by: ending)
            isRemoved = true
        }
        guard let (count, step) = Self.steps.longest(in: word), word.count - count >= second
        else { return isRemoved }
        switch step {
        case .delete: word.replaceLast(count)
        case .tion:
            guard word.ends(with: "ţ", before: count) else { return isRemoved }
            word.replaceLast(count + 1, by: "t")
        case .ist: word.replaceLast(count, by: "ist")
        }
        return true
    }

    private static let verbSuffixes = StemSuffixes([
        (
            true,
            """
            ea ia esc ăsc ind ând are ere ire âre ase ise use âse eşte ăşte eze ai eai iai eşti \
            ăşti ui ezi âi aşi aseşi iseşi useşi âseşi işi uşi âşi eaţi iaţi arăţi aserăţi iserăţi \
            userăţi âserăţi irăţi urăţi ârăţi am eam iam asem isem usem âsem arăm aserăm iserăm \
            userăm âserăm irăm urăm ârăm au eau iau indu ându ez ească ară aseră iseră useră âseră \
            iră ură âră ează
            """
        ),
        (
            false,
            """
            se sese sei seşi seseşi aţi eţi iţi âţi serăţi seserăţi em sesem im âm ăm serăm \
            seserăm seră seseră
            """
        ),
    ])

    private mutating func verb() {
        guard let (count, needsConsonant) = Self.verbSuffixes.longest(in: word, from: verbs)
        else { return }
        let before = word.count - count - 1
        guard
            !needsConsonant
                || before >= verbs && (word[before] == "u" || word.lacks(Self.vowels, at: before))
        else { return }
        word.replaceLast(count)
    }

    private static let lastVowels = StemSuffixes([((), "a e ie i ă")])
}
