/// A suffix of Turkish words in all its forms, for `TurkishStemmer`.
///
/// The names are those of Snowball's "Turkish stemming algorithm": capital letters stand for
/// letters that depend on the word.
struct TurkishSuffix: Sendable {
    /// A letter that joins the suffix to some words.
    private enum Joint { case none, letter(Unicode.Scalar), vowel }

    private let forms: StemSuffixes<Void>
    private let joint: Joint
    /// Whether the suffix's vowel agrees with those before it.
    private let isHarmonic: Bool

    private init(_ forms: String, joint: Joint = .none, isHarmonic: Bool = true) {
        self.forms = StemSuffixes([((), forms)])
        self.joint = joint
        self.isHarmonic = isHarmonic
    }

    static let possessive = TurkishSuffix(
        "m n miz niz muz nuz müz nüz mız nız", joint: .vowel, isHarmonic: false)
    static let sU = TurkishSuffix("ı i u ü", joint: .letter("s"))
    static let lArI = TurkishSuffix("leri ları", isHarmonic: false)
    static let yU = TurkishSuffix("ı i u ü", joint: .letter("y"))
    static let nU = TurkishSuffix("nı ni nu nü")
    static let nUn = TurkishSuffix("ın in un ün", joint: .letter("n"))
    static let yA = TurkishSuffix("a e", joint: .letter("y"))
    static let nA = TurkishSuffix("na ne")
    static let DA = TurkishSuffix("da de ta te")
    static let ndA = TurkishSuffix("nda nde")
    static let DAn = TurkishSuffix("dan den tan ten")
    static let ndAn = TurkishSuffix("ndan nden")
    static let ylA = TurkishSuffix("la le", joint: .letter("y"))
    static let ki = TurkishSuffix("ki", isHarmonic: false)
    static let ncA = TurkishSuffix("ca ce", joint: .letter("n"))
    static let yUm = TurkishSuffix("ım im um üm", joint: .letter("y"))
    static let sUn = TurkishSuffix("sın sin sun sün")
    static let yUz = TurkishSuffix("ız iz uz üz", joint: .letter("y"))
    static let sUnUz = TurkishSuffix("sınız siniz sunuz sünüz", isHarmonic: false)
    static let lAr = TurkishSuffix("lar ler")
    static let nUz = TurkishSuffix("nız niz nuz nüz")
    static let DUr = TurkishSuffix("tır tir tur tür dır dir dur dür")
    static let cAsInA = TurkishSuffix("casına cesine", isHarmonic: false)
    static let yDU = TurkishSuffix(
        """
        tım tim tum tüm dım dim dum düm tın tin tun tün dın din dun dün tık tik tuk tük dık dik \
        duk dük tı ti tu tü dı di du dü
        """, joint: .letter("y"))
    static let ysA = TurkishSuffix(
        "sam san sak sem sen sek sa se", joint: .letter("y"), isHarmonic: false)
    static let ymUş = TurkishSuffix("mış miş muş müş", joint: .letter("y"))
    static let yken = TurkishSuffix("ken", joint: .letter("y"), isHarmonic: false)

    /// Returns the number of its letters before a word's last ones, `nil` if it is not there.
    func count(in word: StemWord, before tail: Int) -> Int? {
        guard let (count, _) = forms.longest(in: word, before: tail),
            !isHarmonic || Self.isHarmonic(word, before: tail)
        else { return nil }
        let before = word.count - tail - count - 1
        let isJoined: Bool
        let isJoint: Bool
        switch joint {
        case .none: return count
        case .letter(let letter):
            isJoint = word[before] == letter
            isJoined = word.has(Self.vowels, at: before - 1)
        case .vowel:
            isJoint = word.has(Self.highVowels, at: before)
            isJoined = word.lacks(Self.vowels, at: before - 1)
        }
        guard isJoined else { return nil }
        return isJoint ? count + 1 : count
    }

    private static let vowels = Set("aeıioöuü".unicodeScalars)
    private static let highVowels = Set("ıiuü".unicodeScalars)
    /// The vowels that may precede each vowel of a suffix.
    private static let harmony: [Unicode.Scalar: Set<Unicode.Scalar>] = [
        "a": Set("aıou".unicodeScalars), "e": Set("eiöü".unicodeScalars), "ı": ["a", "ı"],
        "i": ["e", "i"], "u": ["o", "u"], "ü": ["ö", "ü"],
    ]

    private static func isHarmonic(_ word: StemWord, before tail: Int) -> Bool {
        let letters = word.letters.dropLast(tail)
        guard let last = letters.lastIndex(where: vowels.contains),
            let allowed = harmony[letters[last]]
        else { return false }
        return letters[..<last].contains(where: allowed.contains)
    }
}
