/// The folding of texts and their division into words, for text search.
struct TextTokenizer: Sendable {
    var keepsCase = false
    var keepsMarks = false

    /// Returns the text without the differences that are ignored.
    func fold(_ text: String) -> String {
        UnicodeDecomposition.folded(text, case: !keepsCase, marks: !keepsMarks)
    }

    /// Returns the stems of a text's words, without the stop words of a language.
    func stems(_ text: String, in language: String) -> [String] {
        guard TextLanguage.stemsWithMarks(language) else {
            return Self.words(fold(text)).compactMap {
                WorkBudget.isOver(after: 8) ? nil : TextLanguage.stem($0, in: language)
            }
        }
        let cased = UnicodeDecomposition.folded(text, case: !keepsCase, marks: false)
        var words = Self.words(cased)
        if !TextLanguage.hasApostrophes(language) {
            words = words.flatMap { $0.split(separator: "'").map(String.init) }
        }
        return words.compactMap { word in
            if WorkBudget.isOver(after: 8) { return nil }
            return TextLanguage.stem(word, in: language).map {
                UnicodeDecomposition.folded($0, case: false, marks: !keepsMarks)
            }
        }
    }

    /// Returns the words of a folded text.
    private static func words(_ folded: String) -> [String] {
        folded.unicodeScalars.split { scalar in
            if WorkBudget.isOver() { return true }
            let isWord =
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || UnicodeDecomposition.isMark(scalar) || scalar == "_" || scalar == "'"
            return !isWord
        }.map { String($0) }
    }
}
