import Testing

@testable import BSONStore

/// Without these texts would be found or sorted as nobody reads them, or differently each time.
@Suite struct CollationTests {
    @Test func `the document is shown with all options`() throws {
        let collation = try #require(try Collation(["locale": "en", "strength": 2]))
        let expected: BSONDocument = [
            "locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 2,
            "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
            "normalization": false, "backwards": false, "version": "57.1",
        ]
        #expect(collation.document == expected)
        #expect(try Collation(collation.document) == collation)
        #expect(try Collation(["locale": "simple"]) == nil)
    }

    @Test(arguments: [
        ["a", "A", "á", "Á", "b", "B"], ["1", "10", "2", "a"], [" ", "_", "-", ",", "`", "$", "0"],
        ["role", "rôle", "roles"], ["co", "co-op", "coop"],
        ["z", "α", "а", "א", "あ", "中"],
    ])
    func `texts have the order of the root collation`(_ texts: [String]) throws {
        let collation = try #require(try Collation(["locale": "en"]))
        for (index, left) in texts.enumerated() {
            for right in texts[(index + 1)...] {
                #expect(collation.compare(left, right) == .less, "\(left) and \(right)")
                #expect(collation.compare(right, left) == .greater, "\(left) and \(right)")
            }
        }
    }

    @Test func `every key is UTF-8 and equal texts have equal keys`() throws {
        var random = SeededGenerator(seed: 1)
        let options: [BSONDocument] = [
            ["locale": "en", "strength": 1], ["locale": "sv"], ["locale": "fr_CA"],
            ["locale": "en", "numericOrdering": true], ["locale": "en", "alternate": "shifted"],
        ]
        for document in options {
            let collation = try #require(try Collation(document))
            for _ in 0..<500 {
                var view = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0..<6, using: &random) {
                    let value = UInt32.random(in: 0..<0x3200, using: &random)
                    if let scalar = Unicode.Scalar(value) { view.append(scalar) }
                }
                let text = String(view)
                let key = collation.key(text)
                #expect(String(validating: key, as: UTF8.self) != nil)
                #expect(collation.compare(text, text) == .equal)
                let decomposed = String(
                    String.UnicodeScalarView(TextDecomposition.scalars(text)))
                #expect(collation.key(decomposed) == key)
            }
        }
    }

    @Test func `values are compared by their texts, deep inside, too`() throws {
        let collation = try #require(try Collation(["locale": "en", "strength": 1]))
        #expect(collation.compare(["x": ["Á", 1]], ["x": ["a", 1.0]]) == .equal)
        #expect(collation.compare("b", "Á") == .greater)
        #expect(collation.compare(1, "a") == .less)
    }
}
