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
