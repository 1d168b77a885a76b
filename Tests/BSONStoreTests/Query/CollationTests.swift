import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these texts would be found or sorted as nobody reads them, or differently each time.
@Suite struct CollationTests {
    @Test func `the document is shown with all options`() throws {
        let collation = try Collation(["locale": "en", "strength": 2])
        let expected: BSONDocument = [
            "locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 2,
            "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
            "normalization": false, "backwards": false, "version": "57.1",
        ]
        #expect(collation.document == expected)
        #expect(try Collation(collation.document) == collation)
        #expect(try Collation(["locale": "simple"]) == .simple)
    }

    @Test(arguments: [
        ["a", "A", "á", "Á", "b", "B"], ["1", "10", "2", "a"], [" ", "_", "-", ",", "`", "$", "0"],
        ["role", "rôle", "roles"], ["co", "co-op", "coop"],
        ["z", "α", "а", "א", "あ", "中"],
    ])
    func `texts have the order of the root collation`(_ texts: [String]) throws {
        let collation = try Collation(["locale": "en"])
        for (index, left) in texts.enumerated() {
            for right in texts[(index + 1)...] {
                #expect(collation.compare(left, right) == .less, "\(left) and \(right)")
                #expect(collation.compare(right, left) == .greater, "\(left) and \(right)")
            }
        }
    }

    @Test(arguments: [
        "ΣΣςσ", "Kk\u{212A}", "Åå\u{212B}", "Ss\u{17F}", "µΜμ", "Ββϐ", "Θθϑ", "Φφϕ", "Ωω\u{2126}",
        "ß\u{1E9E}", "Вв\u{1C80}", "Ṡṡẛ",
    ])
    func `forms of a letter are equal on the second level and not on the third`(
        _ forms: String
    ) throws {
        let second = try Collation(["locale": "en", "strength": 2])
        let third = try Collation(["locale": "en"])
        let texts = Set(forms.unicodeScalars.map { String($0) })
        for left in texts {
            for right in texts {
                #expect(second.compare(left, right) == .equal, "\(left) and \(right)")
                let isSame = left == right
                #expect((third.compare(left, right) == .equal) == isSame, "\(left) and \(right)")
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
            let collation = try Collation(document)
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
                    String.UnicodeScalarView(UnicodeDecomposition.scalars(text)))
                #expect(collation.key(decomposed) == key)
            }
        }
    }

    @Test func `values are compared by their texts, deep inside, too`() throws {
        let collation = try Collation(["locale": "en", "strength": 1])
        #expect(collation.compare(["x": ["Á", 1]], ["x": ["a", 1.0]]) == .equal)
        #expect(collation.compare("b", "Á") == .greater)
        #expect(collation.compare(1, "a") == .less)
    }

    /// MongoDB manual, "Collation Default Parameters".
    @Test func `locales have defaults of their own, which a collation may change`() throws {
        #expect(try Collation(["locale": "th"]).document["alternate"] == "shifted")
        let own = try Collation(["locale": "th", "alternate": "non-ignorable"])
        #expect(own.options.alternate == .nonIgnorable)
        #expect(try Collation(["locale": "da"]).document["caseFirst"] == "upper")
        #expect(try Collation(["locale": "mt"]).document["caseFirst"] == "upper")
        #expect(try Collation(["locale": "da", "caseFirst": "off"]).options.caseFirst == .off)
        #expect(try Collation(["locale": "fr_CA"]).document["backwards"] == true)
        let danish = try Collation(["locale": "da"])
        #expect(danish.compare("Abe", "abe") == .less)
        let thai = try Collation(["locale": "th"])
        #expect(thai.compare("a-b", "ab") == .equal)
        #expect(throws: StoreError.self) { try Collation(["locale": "da", "strength": 1]) }
    }

    /// MongoDB manual, "Collation Document", `strength`; UTS 10, "Variable Weighting".
    @Test func `strength 4 compares what is shifted, strength 5 the code points`() throws {
        let loose = try Collation(["locale": "en", "alternate": "shifted"])
        let strict = try Collation(["locale": "en", "alternate": "shifted", "strength": 4])
        for (left, right) in [("a b", "a-b"), ("a-b", "ab"), ("a b", "ab"), ("-\u{301}ab", "ab")] {
            #expect(loose.compare(left, right) == .equal, "\(left) and \(right)")
            #expect(strict.compare(left, right) == .less, "\(left) and \(right)")
        }
        // What counts more is asked first.
        #expect(strict.compare("ab", "a-c") == .less)
        #expect(strict.compare("a-B", "ab") == .greater)
        let plain = try Collation(["locale": "en", "strength": 4])
        let exact = try Collation(["locale": "en", "strength": 5])
        #expect(plain.compare("a\u{1}b", "ab") == .equal)
        #expect(exact.compare("a\u{1}b", "ab") == .less)
        #expect(exact.compare("e\u{301}", "\u{e9}") == .equal)
    }

    /// ICU's `CollationIterator::appendNumericCEs`: 254 digits at a time, each part without zeros
    /// before it.
    @Test func `numbers of more than 254 digits compare in parts`() throws {
        let numeric = try Collation(["locale": "en", "numericOrdering": true])
        let long = String(repeating: "7", count: 254)
        #expect(numeric.compare(long + "5", long + "6") == .less)
        #expect(numeric.compare(long + "9", long + "10") == .less)
        #expect(numeric.compare(long + "007", long + "7") == .equal)
        #expect(numeric.compare("000" + long, long) == .equal)
        #expect(numeric.compare("0", "00") == .equal)
        #expect(numeric.compare("0", "1") == .less)
    }
}
