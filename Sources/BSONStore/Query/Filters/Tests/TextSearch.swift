/// A search for words and phrases in the fields of a text index: `$text`.
///
/// Words end at any character other than a letter or digit. They are folded and, in languages with
/// a stemmer, reduced to their stems.
///
/// Source: MongoDB manual, "$text"; scores as in text indexes of version 3.
package struct TextSearch: Sendable {
    private let index: TextIndexFields
    private let folding: TextTokenizer
    private let language: String
    /// The words, without repetitions, of which at least one must occur.
    private var terms: [String] = []
    private var termPlaces: [String: Int] = [:]
    private var negatedTerms: Set<String> = []
    /// The phrases that must occur literally, except for differences that are ignored.
    private var phrases: [String] = []
    private var negatedPhrases: [String] = []

    /// Parses the operand of `$text`.
    ///
    /// - Throws: `indexNotFound` (27) without an index, `badValue` (2), `typeMismatch` (14) or 4
    ///   with MongoDB's text.
    init(
        _ value: BSONValue, in index: TextIndexFields?, isDeferred: Bool = false
    ) throws(StoreError) {
        guard let document = value.documentValue else {
            throw StoreError(.badValue, "$text expects an object")
        }
        guard let search = document["$search"] else {
            throw StoreError(
                .noSuchKey, "Missing expected field \"$search\"")
        }
        guard let text = search.stringValue else {
            throw Self.wrongType("$search", search, "string")
        }
        var language: String?
        if let value = document["$language"] {
            guard let name = value.stringValue else {
                throw Self.wrongType("$language", value, "string")
            }
            language = name
        }
        var folding = TextTokenizer()
        folding.keepsCase = try Self.flag("$caseSensitive", document)
        folding.keepsMarks = try Self.flag("$diacriticSensitive", document)
        let known: Set = ["$search", "$language", "$caseSensitive", "$diacriticSensitive"]
        guard document.allSatisfy({ known.contains($0.key) }) else {
            throw StoreError(.badValue, "extra fields in $text")
        }
        if let language, TextLanguage.name(of: language) == nil {
            throw StoreError(
                .badValue, "unsupported language: \"\(language)\" for text index version 3")
        }
        guard let index = index ?? (isDeferred ? TextIndexFields(weights: [:]) : nil) else {
            throw StoreError(.indexNotFound, "text index required for $text query")
        }
        self.index = index
        self.folding = folding
        self.language = TextLanguage.name(of: language ?? index.defaultLanguage) ?? "none"
        read(text)
    }

    private static func wrongType(
        _ name: String, _ value: BSONValue, _ expected: String
    ) -> StoreError {
        StoreError(
            .typeMismatch,
            "\"\(name)\" had the wrong type. Expected \(expected), found \(value.type.alias)")
    }

    private static func flag(
        _ name: String, _ document: BSONDocument
    ) throws(StoreError) -> Bool {
        guard let value = document[name] else { return false }
        guard let flag = value.boolValue else { throw wrongType(name, value, "bool") }
        return flag
    }

    /// Splits the search into words, `-words`, `"phrases"` and `-"phrases"`.
    private mutating func read(_ text: String) {
        var isPhrase = false
        var isNegated = false
        for part in text.split(separator: "\"", omittingEmptySubsequences: false) {
            let part = String(part)
            if isPhrase, !part.isEmpty {
                if isNegated {
                    negatedPhrases.append(part)
                } else {
                    phrases.append(part)
                    insert(words: part)
                }
            } else if !isPhrase {
                for word in part.split(whereSeparator: \.isWhitespace) {
                    if word.hasBytePrefix("-") {
                        negatedTerms.formUnion(stems(String(word)))
                    } else {
                        insert(words: String(word))
                    }
                }
                isNegated = part.hasByteSuffix("-")
            }
            isPhrase.toggle()
        }
    }

    private mutating func insert(words text: String) {
        for stem in stems(text) where termPlaces[stem] == nil {
            termPlaces[stem] = terms.count
            terms.append(stem)
        }
    }

    private func stems(_ text: String) -> [String] {
        folding.stems(text, in: language)
    }

    /// Returns the score of a document; `nil` if it does not match.
    func score(of document: BSONDocument) -> Double? {
        let fields = index.texts(of: document)
        var scores: [String: Double] = [:]
        var found: Set<String> = []
        for field in fields { count(field, &scores, &found) }
        // A document has few of many words; their scores are added in the order of the search.
        let places = found.compactMap { termPlaces[$0] }.sorted()
        guard !places.isEmpty, found.isDisjoint(with: negatedTerms) else { return nil }
        let folded = fields.map { ($0.language, folding.fold($0.text, in: $0.language)) }
        func isFound(_ phrase: String) -> Bool {
            folded.contains { language, text in
                text.contains(folding.fold(phrase, in: language))
            }
        }
        guard phrases.allSatisfy(isFound), !negatedPhrases.contains(where: isFound)
        else { return nil }
        return places.reduce(0) { $0 + (scores[terms[$1]] ?? 0) }
    }

    /// Adds the contribution of a field to the words' scores.
    private func count(
        _ field: TextIndexFields.Text, _ scores: inout [String: Double],
        _ found: inout Set<String>
    ) {
        let stems = folding.stems(field.text, in: field.language)
        var counts: [String: (count: Double, frequency: Double, part: Double)] = [:]
        for stem in stems {
            if WorkBudget.isOver() { return }
            var entry = counts[stem] ?? (0, 0, 1)
            entry.count += 1
            entry.frequency += entry.part
            entry.part /= 2
            counts[stem] = entry
        }
        let whole = folding.fold(field.text, in: field.language)
        for (stem, entry) in counts {
            found.insert(stem)
            let share = 0.5 * entry.count / Double(stems.count) + 0.5
            scores[stem, default: 0] +=
                field.weight * entry.frequency * share * (whole == stem ? 1.1 : 1)
        }
    }
}
