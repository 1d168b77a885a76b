/// The fields that a text index covers.
package struct TextIndexFields: Sendable, Hashable {
    /// The weight of each field by its dotted path; the path `$**` stands for every text.
    package var weights: [Name: Double]
    /// The default language of searches and documents.
    package var defaultLanguage: String
    /// The field of a document that names its language.
    package var languageOverride: String

    /// Creates the fields of an index.
    package init(
        weights: [Name: Double], defaultLanguage: String = "english",
        languageOverride: String = "language"
    ) {
        self.weights = weights
        self.defaultLanguage = defaultLanguage
        self.languageOverride = languageOverride
    }
}

// MARK: - Texts of a document

extension TextIndexFields {
    /// A text of a document that the index covers.
    struct Text {
        let text: String
        let weight: Double
        /// The full name of the text's language.
        let language: String
    }

    /// Whether the index covers every text.
    private var isWildcard: Bool { weights["$**"] != nil }

    /// Returns the texts of a document that the index covers.
    ///
    /// A document names the language of its texts; one inside it may name another. With `$**` a
    /// text has the weight of its path, if that is named, else 1.
    ///
    /// Source: MongoDB manual, "Specify the Default Language for a Text Index"; the server's
    /// `fts_element_iterator.cpp`.
    func texts(of document: BSONDocument) -> [Text] {
        var texts: [Text] = []
        visit(document, below: "", TextLanguage.name(of: defaultLanguage) ?? "none") {
            (document, outer) in
            document[languageOverride]?.stringValue.flatMap { TextLanguage.name(of: $0) } ?? outer
        } text: {
            texts.append($0)
        }
        return texts
    }

    /// Checks that a document and those inside it name languages that exist.
    ///
    /// - Throws: 17261 for a language that is not a string, 17262 for an unknown one.
    package func checkLanguages(of document: BSONDocument) throws(StoreError) {
        var fault: StoreError?
        visit(document, below: "", "none") { (document, outer) in
            switch document[languageOverride] {
            case nil: return outer
            case .string(let name)?:
                guard let language = TextLanguage.name(of: name) else {
                    fault = .location(17262, "language override unsupported: \(name)")
                    return outer
                }
                return language
            default:
                fault = .location(
                    17261, "found language override field in document with non-string type")
                return outer
            }
        } text: { _ in
        }
        if let fault { throw fault }
    }

    private func visit(
        _ document: BSONDocument, below path: String, _ outer: String,
        language: (BSONDocument, String) -> String, text: (Text) -> Void
    ) {
        let own = language(document, outer)
        for (field, value) in document {
            if WorkBudget.isOver() { return }
            if isWildcard, field.utf8.elementsEqual(languageOverride.utf8) { continue }
            let path = path.isEmpty ? field : "\(path).\(field)"
            visit(value, at: path, own, isInArray: false, language: language, text: text)
        }
    }

    private func visit(
        _ value: BSONValue, at path: String, _ own: String, isInArray: Bool,
        language: (BSONDocument, String) -> String, text: (Text) -> Void
    ) {
        switch value {
        case .string(let found):
            guard let weight = weights[Name(path)] ?? (isWildcard ? 1 : nil) else { return }
            text(Text(text: found, weight: weight, language: own))
        case .document(let inner):
            guard isWildcard || leads(through: path) else { return }
            visit(inner, below: path, own, language: language, text: text)
        case .array(let array):
            guard isWildcard || !isInArray else { return }
            for member in array {
                if WorkBudget.isOver() { return }
                visit(member, at: path, own, isInArray: true, language: language, text: text)
            }
        default: return
        }
    }

    /// Whether an indexed path lies below a path.
    private func leads(through path: String) -> Bool {
        let start = Array("\(path).".utf8)
        return weights.keys.contains { $0.text.utf8.starts(with: start) }
    }
}
