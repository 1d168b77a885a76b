/// Names the fields that a text index covers.
struct TextIndexFields: Sendable, Hashable {
    /// The weight of each field by its dotted path; the path `$**` stands for every text.
    var weights: [Name: Double]
    /// The language that searches and documents have unless they say otherwise.
    var defaultLanguage = "english"
    /// The field of a document that names its language.
    var languageOverride = "language"
}
