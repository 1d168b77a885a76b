/// The folding of texts and their division into words, for text search.
struct TextTokenizer: Sendable {
    var keepsCase = false
    var keepsMarks = false

    /// Returns a text in a language without the differences that are ignored.
    func fold(_ text: String, in language: String) -> String {
        withoutMarks(withoutCase(text, in: language))
    }

    private func withoutCase(_ text: String, in language: String) -> String {
        keepsCase ? text : TextLanguage.lowercased(text, in: language)
    }

    private func withoutMarks(_ text: String) -> String {
        keepsMarks ? text : UnicodeDecomposition.unmarked(text)
    }

    /// Returns the stems of a text's words, without the stop words of a language.
    func stems(_ text: String, in language: String) -> [String] {
        guard TextLanguage.stemsWithMarks(language) else {
            return Self.words(fold(text, in: language)).compactMap {
                WorkBudget.isOver(after: 8) ? nil : TextLanguage.stem($0, in: language)
            }
        }
        var words = Self.words(withoutCase(text, in: language))
        if !TextLanguage.hasApostrophes(language) {
            words = words.flatMap { $0.split(atByte: "'").map(String.init) }
        }
        return words.compactMap { word in
            if WorkBudget.isOver(after: 8) { return nil }
            return TextLanguage.stem(word, in: language).map(withoutMarks)
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
