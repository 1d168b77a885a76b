/// A stemmer for Portuguese words.
///
/// Source: Snowball, "Portuguese stemming algorithm", in the form that MongoDB's libstemmer has.
struct PortugueseStemmer: Stemmer {
    var word: StemWord
    private var verbs = 0
    private var first = 0
    private var second = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouáéíóúâêô".unicodeScalars)

    mutating func run() {
        // A nasal vowel counts as a vowel and a consonant.
        split("ã", "a~")
        split("õ", "o~")
        verbs = word.verbRegion(Self.vowels)
        first = word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        if standard() || verb() {
            if word.ends(with: "ci") { _ = word.remove("i", from: verbs) }
        } else if let (count, _) = Self.residuals.longest(in: word), word.count - count >= verbs {
            word.replaceLast(count)
        }
        form()
        join()
    }

    private mutating func split(_ letter: Unicode.Scalar, _ parts: String) {
        guard word.letters.contains(letter) else { return }
        var view = String.UnicodeScalarView()
        for scalar in word.letters {
            view.append(contentsOf: scalar == letter ? Array(parts.unicodeScalars) : [scalar])
        }
        word = StemWord(String(view))
    }

    private mutating func join() {
        guard word.letters.contains("~") else { return }
        var view = String.UnicodeScalarView()
        for scalar in word.letters {
            if scalar == "~", let last = view.last, last == "a" || last == "o" {
                view.removeLast()
                view.append(last == "a" ? "ã" : "õ")
            } else {
                view.append(scalar)
            }
        }
        word = StemWord(String(view))
    }

    private enum Step { case delete, logy, ution, ence, amente, mente, idade, iva, ira }
    private static let steps = StemSuffixes<Step>([
        (
            .delete,
            """
            eza ezas ico ica icos icas ismo ismos ável ível ista istas oso osa osos osas amento \
            amentos imento imentos adora ador aça~o adoras adores aço~es ante antes ância
            """
        ),
        (.logy, "logia logias"), (.ution, "uça~o uço~es"), (.ence, "ência ências"),
        (.amente, "amente"), (.mente, "mente"), (.idade, "idade idades"),
        (.iva, "iva ivo ivas ivos"), (.ira, "ira iras"),
    ])

    private mutating func standard() -> Bool {
        guard let (count, step) = Self.steps.longest(in: word) else { return false }
        let region =
            switch step {
            case .amente: first
            case .ira: verbs
            case .delete, .logy, .ution, .ence, .mente, .idade, .iva: second
            }
        guard word.count - count >= region else { return false }
        switch step {
        case .delete: word.replaceLast(count)
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
            _ = ["ante", "avel", "ível"].contains { word.remove($0, from: second) }
        case .idade:
            word.replaceLast(count)
            _ = ["abil", "ic", "iv"].contains { word.remove($0, from: second) }
        case .iva:
            word.replaceLast(count)
            _ = word.remove("at", from: second)
        case .ira:
            guard word.ends(with: "e", before: count) else { return false }
            word.replaceLast(count, by: "ir")
        }
        return true
    }

    private static let verbSuffixes = StemSuffixes([
        (
            (),
            """
            ada ida ia aria eria iria ará ara erá era irá ava asse esse isse aste este iste ei arei \
            erei irei am iam ariam eriam iriam aram eram iram avam em arem erem irem assem essem \
            issem ado ido ando endo indo ara~o era~o ira~o ar er ir as adas idas ias arias erias \
            irias arás aras erás eras irás avas es ardes erdes irdes ares eres ires asses esses \
            isses astes estes istes is ais eis íeis aríeis eríeis iríeis áreis areis éreis ereis \
            íreis ireis ásseis ésseis ísseis áveis ados idos ámos amos íamos aríamos eríamos \
            iríamos áramos éramos íramos ávamos emos aremos eremos iremos ássemos êssemos íssemos \
            imos armos ermos irmos eu iu ou ira iras
            """
        )
    ])

    private mutating func verb() -> Bool {
        guard let (count, _) = Self.verbSuffixes.longest(in: word, from: verbs) else {
            return false
        }
        word.replaceLast(count)
        return true
    }

    private static let residuals = StemSuffixes([((), "os a i o á í ó")])

    private mutating func form() {
        if word.ends(with: "ç") {
            word.replaceLast(1, by: "c")
        } else if ["e", "é", "ê"].contains(where: { word.remove($0, from: verbs) }) {
            if word.ends(with: "gu") {
                _ = word.remove("u", from: verbs)
            } else if word.ends(with: "ci") {
                _ = word.remove("i", from: verbs)
            }
        }
    }
}
