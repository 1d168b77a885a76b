import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a French word would not be found in its other forms.
///
/// Source: the sample vocabulary of Snowball's page "French stemming algorithm".
@Suite struct FrenchStemTests {
    @Test(arguments: [
        ("continu", "continu"), ("continua", "continu"), ("continuait", "continu"),
        ("continuant", "continu"), ("continuation", "continu"), ("continué", "continu"),
        ("continuelle", "continuel"), ("continuellement", "continuel"),
        ("continuels", "continuel"), ("continuera", "continu"), ("continuité", "continu"),
        ("continuons", "continuon"), ("contorsions", "contors"), ("contournait", "contourn"),
        ("contours", "contour"), ("contractée", "contract"), ("contractions", "contract"),
        ("contradictoirement", "contradictoir"), ("contraindre", "contraindr"),
        ("contrainte", "contraint"), ("contraires", "contrair"), ("contraria", "contrari"),
        ("mains", "main"), ("maintenaient", "mainten"), ("maintenir", "mainten"),
        ("maintenue", "maintenu"), ("maintien", "maintien"), ("mairie", "mair"),
        ("maïs", "maï"), ("maisons", "maison"), ("maître", "maîtr"), ("maîtresse", "maîtress"),
        ("majesté", "majest"), ("majestueuse", "majestu"), ("majestueusement", "majestu"),
        ("majestueux", "majestu"), ("majeure", "majeur"), ("majordomes", "majordom"),
        ("majorités", "major"), ("malades", "malad"), ("maladie", "malad"),
        ("maladive", "malad"), ("", ""), ("s", "s"), ("é", "é"),
    ])
    func `French words have Snowball's stems`(_ word: String, _ stem: String) {
        #expect(FrenchStemmer.stem(of: word) == stem)
        var decomposed = String.UnicodeScalarView()
        decomposed.append(contentsOf: UnicodeDecomposition.scalars(word))
        #expect(FrenchStemmer.stem(of: String(decomposed)) == stem)
    }

    @Test func `words are cut at apostrophes, and those without meaning left out`() {
        let stems = TextTokenizer().stems("L'amour, c'est la majesté même", in: "french")
        #expect(stems == ["amour", "majest"])
    }
}
