/// The fields that a text index covers.
struct TextIndexFields: Sendable, Hashable {
    /// The weight of each field by its dotted path; the path `$**` stands for every text.
    var weights: [Name: Double]
    /// The default language of searches and documents.
    var defaultLanguage = "english"
    /// The field of a document that names its language.
    var languageOverride = "language"
}
