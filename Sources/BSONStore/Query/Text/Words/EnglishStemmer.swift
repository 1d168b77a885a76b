/// A stemmer for English words.
///
/// Source: Snowball, "The English (Porter2) stemming algorithm", in the form that MongoDB's
/// libstemmer has.
struct EnglishStemmer {
    private var word: StemWord
    private var first = 0
    private var second = 0

    /// Returns the stem of a word in lower case that still has its marks.
    static func stem(of word: String) -> String {
        if let known = exceptions[word] { return known }
        var stem = EnglishStemmer(word: StemWord(word))
        guard stem.word.count > 2 else { return word }
        stem.run()
        return stem.word.text
    }

    private init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeiouy".unicodeScalars)
    private static let vowelsAndWXY = Set("aeiouywxY".unicodeScalars)
    private static let beforeLi = Set("cdeghkmnrt".unicodeScalars)
    private static let exceptions = [
        "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
        "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
        "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas",
        "cosmos": "cosmos", "bias": "bias", "andes": "andes",
    ]
    private static let finished: Set<String> = [
        "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed",
    ]

    private mutating func run() {
        if word[0] == "'" { word.removeFirst() }
        markConsonants()
        let begins = ["gener", "commun", "arsen"].first { word.starts(with: $0) }
        first = begins?.unicodeScalars.count ?? word.region(Self.vowels) ?? word.count
        second = word.region(Self.vowels, after: first) ?? word.count
        plural()
        if !Self.finished.contains(word.text) {
            past()
            if let last = word[word.count - 1], last == "y" || last == "Y", word.count > 2,
                word.lacks(Self.vowels, at: word.count - 2)
            {
                word[word.count - 1] = "i"
            }
            derived()
            shortened()
            dropped()
            trim()
        }
        word.exchange(["Y": "y"])
    }

    /// Marks each y that stands for a consonant by upper case.
    private mutating func markConsonants() {
        for index in word.letters.indices where word[index] == "y" {
            if index == 0 || word.has(Self.vowels, at: index - 1) { word[index] = "Y" }
        }
    }

    private static let owned = StemSuffixes([((), "' 's 's'")])
    private enum Plural { case sses, ies, keeps, s }
    private static let plurals = StemSuffixes<Plural>([
        (.sses, "sses"), (.ies, "ied ies"), (.keeps, "us ss"), (.s, "s"),
    ])

    private mutating func plural() {
        if let owned = Self.owned.longest(in: word) { word.replaceLast(owned.count) }
        switch Self.plurals.longest(in: word)?.step {
        case .sses?: word.replaceLast(2)
        case .ies?: word.replaceLast(word.count > 4 ? 2 : 1)
        case .s? where hasVowel(before: 2): word.replaceLast(1)
        case .s?, .keeps?, nil: break
        }
    }

    private func hasVowel(before tail: Int) -> Bool {
        word.letters.dropLast(tail).contains(where: Self.vowels.contains)
    }

    private static let pastTenseSuffixes = StemSuffixes([
        (true, "eed eedly"), (false, "ed edly ing ingly"),
    ])
    private static let doubled: Set<String> = [
        "bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt",
    ]

    private mutating func past() {
        guard let (count, isDouble) = Self.pastTenseSuffixes.longest(in: word) else { return }
        if isDouble {
            if word.count - count >= first { word.replaceLast(count, by: "ee") }
            return
        }
        guard hasVowel(before: count) else { return }
        word.replaceLast(count)
        if ["at", "bl", "iz"].contains(where: { word.ends(with: $0) }) {
            word.replaceLast(0, by: "e")
        } else if Self.doubled.contains(where: { word.ends(with: $0) }) {
            word.replaceLast(1)
        } else if word.count == first, endsShort(before: 0) {
            word.replaceLast(0, by: "e")
        }
    }

    /// Whether the word without its last letters ends with a short syllable.
    private func endsShort(before tail: Int) -> Bool {
        let last = word.count - tail - 1
        guard word.has(Self.vowels, at: last - 1) else { return false }
        if last == 1 { return word.lacks(Self.vowels, at: last) }
        return word.lacks(Self.vowelsAndWXY, at: last) && word.lacks(Self.vowels, at: last - 2)
    }

    private static let derivations = StemSuffixes<String>([
        ("tion", "tional"), ("ence", "enci"), ("ance", "anci"), ("able", "abli"),
        ("ent", "entli"), ("ize", "izer ization"), ("ate", "ational ation ator"),
        ("al", "alism aliti alli"), ("ful", "fulness fulli"), ("ous", "ousli ousness"),
        ("ive", "iveness iviti"), ("ble", "biliti bli"), ("og", "ogi"), ("less", "lessli"),
        ("", "li"),
    ])

    private mutating func derived() {
        guard let (count, text) = Self.derivations.longest(in: word),
            word.count - count >= first
        else { return }
        if text == "og", !word.ends(with: "l", before: count) { return }
        if text.isEmpty, !word.has(Self.beforeLi, at: word.count - count - 1) { return }
        word.replaceLast(count, by: text)
    }

    private static let shorter = StemSuffixes<String?>([
        ("tion", "tional"), ("ate", "ational"), ("al", "alize"), ("ic", "icate iciti ical"),
        ("", "ful ness"), (nil, "ative"),
    ])

    private mutating func shortened() {
        guard let (count, text) = Self.shorter.longest(in: word) else { return }
        // A suffix without a replacement is removed in the second region only.
        guard word.count - count >= (text == nil ? second : first) else { return }
        word.replaceLast(count, by: text ?? "")
    }

    private static let endings = StemSuffixes([
        (
            false,
            "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize"
        ),
        (true, "ion"),
    ])

    private mutating func dropped() {
        guard let (count, isIon) = Self.endings.longest(in: word), word.count - count >= second
        else { return }
        guard !isIon || word.ends(with: "s", before: 3) || word.ends(with: "t", before: 3)
        else { return }
        word.replaceLast(count)
    }

    private mutating func trim() {
        let place = word.count - 1
        if word[place] == "e" {
            if place >= second || place >= first && !endsShort(before: 1) { word.replaceLast(1) }
        } else if word[place] == "l", place >= second, word[place - 1] == "l" {
            word.replaceLast(1)
        }
    }
}
