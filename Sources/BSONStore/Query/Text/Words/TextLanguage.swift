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

    /// Returns a text in lower case; in Turkish the small letters of I and İ are ı and i.
    ///
    /// Source: the server's `codepoints.h`.
    static func lowercased(_ text: String, in language: String) -> String {
        guard language == "turkish" else { return text.lowercased() }
        var view = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == dotAbove, view.last == "ı" {
                view.removeLast()
                view.append("i")
            } else {
                view.append(scalar == "I" ? "ı" : scalar == "İ" ? "i" : scalar)
            }
        }
        return String(view).lowercased()
    }

    private static let dotAbove: Unicode.Scalar = "\u{307}"

    private static let stemmers: [String: @Sendable (String) -> String] = [
        "danish": DanishStemmer.stem(of:), "dutch": DutchStemmer.stem(of:),
        "english": EnglishStemmer.stem(of:), "finnish": FinnishStemmer.stem(of:),
        "french": FrenchStemmer.stem(of:), "german": GermanStemmer.stem(of:),
        "hungarian": HungarianStemmer.stem(of:), "italian": ItalianStemmer.stem(of:),
        "norwegian": NorwegianStemmer.stem(of:), "portuguese": PortugueseStemmer.stem(of:),
        "romanian": RomanianStemmer.stem(of:), "russian": RussianStemmer.stem(of:),
        "spanish": SpanishStemmer.stem(of:), "swedish": SwedishStemmer.stem(of:),
        "turkish": TurkishStemmer.stem(of:),
    ]

    /// Returns the stem of a word; `nil` for a stop word of the language.
    static func stem(_ word: String, in language: String) -> String? {
        guard let stemmer = stemmers[language] else { return word }
        guard
            TextStopWords.words[language]?.contains(lowercased(word, in: language)) != true
        else { return nil }
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
