import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a group of a regular expression would be cut out of the wrong place.
@Suite struct TextMatchTests {
    /// A pattern with a text, and what the whole and its groups take.
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        let text: String
        let taken: [String?]?

        var testDescription: String { "/\(pattern)/ in '\(text)'" }
    }

    @Test(arguments: [
        Case(pattern: "(b+)(c)?", text: "abbd", taken: ["bb", "bb", nil]),
        Case(pattern: "(a|ab)(c|bcd)(d*)", text: "abcd", taken: ["abcd", "a", "bcd", ""]),
        Case(pattern: "(a+?)(a*)", text: "aaa", taken: ["aaa", "a", "aa"]),
        Case(pattern: "(a+)(a*)", text: "aaa", taken: ["aaa", "aaa", ""]),
        Case(pattern: "(?:x(\\d))+", text: "x1x2", taken: ["x1x2", "2"]),
        Case(
            pattern: "(?<year>\\d{4})-(\\d\\d)", text: "on 2024-05",
            taken: ["2024-05", "2024", "05"]),
        Case(pattern: "(a*)*", text: "b", taken: ["", ""]),
        Case(pattern: "(?=(ab))a", text: "xab", taken: ["a", "ab"]),
        Case(pattern: "(ä)(€)", text: "xä€", taken: ["ä€", "ä", "€"]),
        Case(pattern: "(\\w)\\1", text: "hello", taken: ["ll", "l"]),
        Case(pattern: "(?<=(a))b", text: "ab", taken: ["b", "a"]),
        Case(pattern: "(x)", text: "abc", taken: nil),
        Case(pattern: "", text: "abc", taken: [""]),
    ])
    func `groups take what PCRE's take`(_ example: Case) throws {
        let pattern = try CompiledRegex(BSONRegularExpression(example.pattern), keepsGroups: true)
        let bytes = Array(example.text.utf8)
        let match = bytes.withUnsafeBytes { pattern.match(in: $0, from: 0) }
        let taken = match.map { match in
            ([match.range] + match.groups).map { range in
                range.map { String(decoding: bytes[$0], as: UTF8.self) }
            }
        }
        #expect(taken == example.taken)
    }

    @Test func `a search goes on from an offset, with what is before it in sight`() throws {
        let pattern = try CompiledRegex(BSONRegularExpression("\\ba|^b"), keepsGroups: true)
        let bytes = Array("ba a".utf8)
        let found = bytes.withUnsafeBytes { text in
            [0, 1].map { pattern.match(in: text, from: $0)?.range }
        }
        #expect(found == [0..<1, 3..<4])
    }

    @Test func `nested repetitions take time linear in the text`() throws {
        let pattern = try CompiledRegex(BSONRegularExpression("^(a+)+$"), keepsGroups: true)
        let bytes = Array((String(repeating: "a", count: 5_000) + "b").utf8)
        #expect(bytes.withUnsafeBytes { pattern.match(in: $0, from: 0) } == nil)
    }

    @Test func `a search that would never end gives up`() throws {
        let pattern = try CompiledRegex(BSONRegularExpression("^(a+)+\\1b$"))
        let bytes = Array(String(repeating: "a", count: 60).utf8)
        #expect(!bytes.withUnsafeBytes { pattern.isFound(in: $0) })
    }

    @Test(arguments: [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("agreed", "agre"),
        ("plastered", "plaster"), ("motoring", "motor"), ("conflated", "conflat"),
        ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"),
        ("relational", "relat"), ("digitizer", "digit"), ("operator", "oper"),
        ("formalize", "formal"), ("electrical", "electr"), ("goodness", "good"),
        ("revival", "reviv"), ("adjustment", "adjust"), ("adoption", "adopt"),
        ("probate", "probat"), ("rate", "rate"), ("controlling", "control"), ("sky", "sky"),
    ])
    func `English words have the stems of Porter's second algorithm`(_ word: String, _ stem: String)
    {
        #expect(EnglishStemmer.stem(of: word) == stem)
    }

    @Test(arguments: [#"(x)y"#, #"(x)y\1"#])
    func `a match behind 4 MB is found`(_ pattern: String) throws {
        let pattern = try CompiledRegex(BSONRegularExpression(pattern), keepsGroups: true)
        let before = 4_200_000
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: before) + Array("xyx".utf8)
        let match = bytes.withUnsafeBytes { pattern.match(in: $0, from: 0) }
        #expect(match?.range.lowerBound == before)
        #expect(match?.groups.first == before..<before + 1)
    }
}
