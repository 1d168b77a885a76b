/// The languages of text indexes, with their stop words and stemmers.
package enum TextLanguage {
    /// Returns the full name of a language from its name or code; `nil` for unknown ones.
    ///
    /// Source: MongoDB manual, "Text Search Languages on Self-Managed Deployments".
    package static func name(of language: String) -> String? {
        let lower = language.lowercased()
        return codes[lower] ?? (codes.values.contains(lower) ? lower : nil)
    }

    /// Whether stemming precedes the removal of marks, because marks distinguish forms of words.
    static func stemsWithMarks(_ language: String) -> Bool { stemmers[language] != nil }

    /// Whether an apostrophe is part of a word.
    ///
    /// Source: the server's `codepoints_delimiter_list.cpp`.
    static func hasApostrophes(_ language: String) -> Bool { language == "english" }

    private static let stemmers: [String: @Sendable (String) -> String] = [
        "english": EnglishStemmer.stem(of:), "french": FrenchStemmer.stem(of:),
        "german": GermanStemmer.stem(of:), "italian": ItalianStemmer.stem(of:),
        "portuguese": PortugueseStemmer.stem(of:), "spanish": SpanishStemmer.stem(of:),
    ]

    /// Returns the stem of a word; `nil` for a stop word of the language.
    static func stem(_ word: String, in language: String) -> String? {
        guard let stemmer = stemmers[language] else { return word }
        guard TextStopWords.words[language]?.contains(word.lowercased()) != true else {
            return nil
        }
        let stem = stemmer(word)
        return stem.isEmpty ? nil : stem
    }

    private static let codes = [
        "none": "none", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish",
        "fr": "french", "de": "german", "hu": "hungarian", "it": "italian", "nb": "norwegian",
        "pt": "portuguese", "ro": "romanian", "ru": "russian", "es": "spanish", "sv": "swedish",
        "tr": "turkish",
    ]
}
