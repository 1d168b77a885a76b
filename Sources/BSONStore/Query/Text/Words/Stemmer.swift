/// A stemmer for the words of one language, in the steps of its Snowball algorithm.
protocol Stemmer {
    /// The word, of which the steps remove and replace endings.
    var word: StemWord { get }
    /// Begins with a word in lower case.
    init(word: StemWord)
    /// Carries out all steps.
    mutating func run()
}

extension Stemmer {
    /// Returns the stem of a word in lower case that still has its marks.
    static func stem(of word: String) -> String {
        var stemmer = Self(word: StemWord(word))
        stemmer.run()
        return stemmer.word.text
    }
}
