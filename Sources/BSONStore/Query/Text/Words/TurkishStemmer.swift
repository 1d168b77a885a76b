/// A stemmer for Turkish words.
///
/// It reads suffixes from a word's end. Some it removes at once, others with the suffixes before
/// them.
///
/// Source: Snowball, "Turkish stemming algorithm", in the form that MongoDB's libstemmer has.
struct TurkishStemmer: Stemmer {
    var word: StemWord
    /// The number of letters behind the place to which the word is read.
    private var tail = 0
    /// The number of letters behind those that are removed next.
    private var mark = 0

    init(word: StemWord) { self.word = word }

    private static let vowels = Set("aeıioöuü".unicodeScalars)
    private static let reserved = [StemWord("ad"), StemWord("soyad")]
    private static let lastConsonants: [Unicode.Scalar: Unicode.Scalar] = [
        "b": "p", "c": "ç", "d": "t", "ğ": "k",
    ]

    mutating func run() {
        guard word.letters.lazy.filter(Self.vowels.contains).prefix(2).count == 2,
            nominalVerb()
        else { return }
        tail = 0
        noun()
        guard !Self.reserved.contains(where: { $0.letters == word.letters }) else { return }
        appendVowel()
        if word.count > 0 { word.exchange(at: word.count - 1, Self.lastConsonants) }
    }

    /// Appends the vowel that was probably removed by mistake behind `d` or `g`.
    private mutating func appendVowel() {
        guard word.ends(with: "d") || word.ends(with: "g"),
            let vowel = word.letters.last(where: Self.vowels.contains)
        else { return }
        switch vowel {
        case "a", "ı": word.replaceLast(0, by: "ı")
        case "e", "i": word.replaceLast(0, by: "i")
        case "o", "u": word.replaceLast(0, by: "u")
        default: word.replaceLast(0, by: "ü")
        }
    }

    // MARK: Reading

    /// Reads the first of some suffixes that the word has; returns `false` if it has none.
    private mutating func read(_ suffixes: TurkishSuffix...) -> Bool {
        for suffix in suffixes {
            if let count = suffix.count(in: word, before: tail) {
                tail += count
                return true
            }
        }
        return false
    }

    /// Goes back to where it was if some steps fail; what they removed stays removed.
    private mutating func attempt(_ steps: (inout Self) -> Bool) -> Bool {
        let start = tail
        if steps(&self) { return true }
        tail = start
        return false
    }

    private mutating func setMark() { mark = tail }

    /// Removes the letters that were read since the mark.
    private mutating func remove() {
        word.remove(tail - mark, before: mark)
        tail = mark
    }

    /// Reads and removes the first of some suffixes; returns `false` if the word has none.
    private mutating func remove(_ suffixes: TurkishSuffix...) -> Bool {
        setMark()
        for suffix in suffixes where read(suffix) {
            remove()
            return true
        }
        return false
    }

    // MARK: Nominal verbs

    /// Removes suffixes of nominal verbs; returns `false` if no suffix of a noun can precede them.
    private mutating func nominalVerb() -> Bool {
        setMark()
        if read(.ymUş, .yDU, .ysA, .yken)
            || attempt({ $0.read(.cAsInA) && $0.person() && $0.read(.ymUş) })
        {
            remove()
        } else if read(.lAr) {
            remove()
            if read(.DUr, .yDU, .ysA, .ymUş) { remove() }
            return false
        } else if attempt({ $0.read(.nUz) && $0.read(.yDU, .ysA) }) {
            remove()
        } else if read(.sUnUz, .yUz, .sUn, .yUm) {
            remove()
            if read(.ymUş) { remove() }
        } else if read(.DUr) {
            remove()
            if attempt({ $0.person() && $0.read(.ymUş) }) { remove() }
        }
        return true
    }

    /// Reads a suffix of a person if there is one.
    private mutating func person() -> Bool {
        _ = read(.sUnUz, .lAr, .yUm, .sUn, .yUz)
        return true
    }

    // MARK: Nouns

    private mutating func noun() {
        if remove(.lAr) {
            _ = chain()
        } else if remove(.ncA) {
            _ = remove(.lArI) || owner() || pluralChain()
        } else if attempt({ $0.locative() }) || attempt({ $0.ablative() }) {
            return
        } else if remove(.DAn) {
            _ = owned() || chain()
        } else if remove(.nUn, .ylA) {
            _ = pluralChain() || owner() || chain()
        } else if !remove(.lArI), !chain() {
            if remove(.DA, .yU, .yA) { _ = attempt { $0.ownedChain() } } else { _ = owner() }
        }
    }

    /// Removes a suffix of the locative or dative case with the suffix before it.
    private mutating func locative() -> Bool {
        setMark()
        return read(.ndA, .nA) && beforeLocative(depth: 0)
    }

    private mutating func beforeLocative(depth: Int) -> Bool {
        if read(.lArI) {
            remove()
        } else if read(.sU) {
            remove()
            _ = pluralChain(depth: depth)
        } else {
            return chain(depth: depth)
        }
        return true
    }

    /// Removes a suffix of the ablative or accusative case with the suffix before it.
    private mutating func ablative() -> Bool {
        setMark()
        guard read(.ndAn, .nU) else { return false }
        guard read(.sU) else { return read(.lArI) }
        remove()
        _ = pluralChain()
        return true
    }

    /// Removes a suffix of an owner, and suffixes before it.
    private mutating func owner(depth: Int = 0) -> Bool {
        guard remove(.possessive, .sU) else { return false }
        _ = pluralChain(depth: depth)
        return true
    }

    /// Removes a possessive or plural suffix, and suffixes before it.
    private mutating func owned(depth: Int = 0, pluralFirst: Bool = false) -> Bool {
        if pluralFirst, remove(.lAr) {
            _ = chain(depth: depth)
        } else if remove(.possessive) {
            _ = pluralChain(depth: depth)
        } else if !pluralFirst, remove(.lAr) {
            _ = chain(depth: depth)
        } else {
            return false
        }
        return true
    }

    /// Removes possessive and plural suffixes, and then suffixes that end in `ki`.
    private mutating func ownedChain() -> Bool {
        if remove(.possessive) {
            _ = remove(.lAr)
        } else if !remove(.lAr) {
            return false
        }
        return chain()
    }

    /// Removes a plural suffix; returns `false` if no suffix that ends in `ki` precedes it.
    private mutating func pluralChain(depth: Int = 0) -> Bool {
        attempt { $0.remove(.lAr) && $0.chain(depth: depth) }
    }

    /// The number of suffixes in `ki` that are removed, for a bounded depth of calls.
    private static let chainMax = 100

    /// Removes a `ki` at the end and the suffixes before it; returns whether the word ended in `ki`.
    private mutating func chain(depth: Int = 0) -> Bool {
        guard depth < Self.chainMax else { return false }
        return attempt { stem in
            stem.setMark()
            guard stem.read(.ki) else { return false }
            if stem.read(.DA) {
                stem.remove()
                _ = stem.owned(depth: depth + 1, pluralFirst: true)
                return true
            }
            if stem.read(.nUn) {
                stem.remove()
                _ =
                    stem.remove(.lArI) || stem.owner(depth: depth + 1)
                    || stem.chain(depth: depth + 1)
                return true
            }
            return stem.read(.ndA) && stem.beforeLocative(depth: depth + 1)
        }
    }
}
