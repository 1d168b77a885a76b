import Testing

@testable import BSONQuery
@testable import BSONStore

/// Without these a regular expression would find other texts than PCRE does, or be slow on some.
@Suite struct TextPatternTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        let options: String
        let found: [String]
        let missed: [String]

        var testDescription: String { "/\(pattern)/\(options)" }

        init(_ pattern: String, _ found: [String], not missed: [String]) {
            self.init(pattern, "", found, not: missed)
        }

        init(_ pattern: String, _ options: String, _ found: [String], not missed: [String]) {
            self.pattern = pattern
            self.options = options
            self.found = found
            self.missed = missed
        }
    }

    @Test(arguments: cases)
    func `a pattern finds what PCRE finds`(_ example: Case) throws {
        let pattern = try CompiledRegex(
            BSONRegularExpression(example.pattern, options: example.options))
        for text in example.found { #expect(Self.isFound(pattern, text), "\(text)") }
        for text in example.missed { #expect(!Self.isFound(pattern, text), "\(text)") }
    }

    @Test func `a pattern longer than MongoDB's limit is refused`() throws {
        let longest = String(repeating: "a", count: 16_384)
        for pattern in [longest, "[b]" + longest.dropFirst(3)] {
            for keepsGroups in [false, true] {
                _ = try CompiledRegex(BSONRegularExpression(pattern), keepsGroups: keepsGroups)
                let error = #expect(throws: StoreError.self) {
                    _ = try CompiledRegex(
                        BSONRegularExpression(pattern + "a"), keepsGroups: keepsGroups)
                }
                #expect(error?.code.rawValue == 51091)
                #expect(
                    error?.message
                        == "Regular expression is invalid: pattern string is longer than the limit "
                        + "set by the application")
            }
        }
    }

    /// The simple case foldings beyond one capital and one small letter, without those above.
    @Test(arguments: [
        "Ββϐ", "Εεϵ", "Θθϑϴ", "Ιι\u{1FBE}\u{345}", "Κκϰ", "Ππϖ", "Ρρϱ", "Φφϕ", "Ωω\u{2126}",
        "Ṡṡẛ", "Вв\u{1C80}", "Тт\u{1C84}\u{1C85}", "Ꙋꙋ\u{1C88}",
        "Ǉǈǉ", "Ǳǲǳ", "ῃῌ", "ᾠᾨ", "\u{390}\u{1FD3}", "ﬅﬆ", "Ⰰⰰ", "𐐀𐐨", "Ꭰꭰ", "Ⓐⓐ",
    ])
    func `characters with one folding are one`(_ characters: String) throws {
        for left in characters.unicodeScalars {
            let patterns = [String(left), "[\(left)]", "[^\(left)]"]
            for right in characters.unicodeScalars {
                for (index, pattern) in patterns.enumerated() {
                    let regex = try CompiledRegex(BSONRegularExpression(pattern, options: "i"))
                    #expect(Self.isFound(regex, String(right)) == (index < 2), "\(pattern)")
                }
            }
        }
    }

    static let cases: [Case] = [
        Case("abc", ["abc", "xabcx"], not: ["ab", "ABC", ""]),
        Case("^abc", ["abcd"], not: ["xabc"]),
        Case("abc$", ["xabc", "abc\n"], not: ["abcd", "abc\n\n"]),
        Case("", ["", "x"], not: []),
        Case("a.c", ["abc", "aäc"], not: ["ac", "a\nc"]),
        Case("a.c", "s", ["a\nc"], not: ["ac"]),
        Case("^b$", "m", ["a\nb\nc"], not: ["ab"]),
        Case("straße", "i", ["STRAßE", "Straße"], not: ["strasse"]),
        Case("^οδυσσεύς$", "i", ["ΟΔΥΣΣΕΎΣ", "ΟΔΥΣΣΕΎς", "οδυσσεύσ"], not: ["οδυσσεύ"]),
        Case("ς", "i", ["Σ", "σ", "ς"], not: ["s"]), Case("Σ", "i", ["ς", "σ"], not: ["S"]),
        Case("[ρσ]", "i", ["ς", "ϱ"], not: ["s"]), Case("[^σ]", "i", ["s"], not: ["ς", "Σ"]),
        Case("ß", "i", ["\u{1E9E}", "ß"], not: ["ss", "SS"]),
        Case("\u{1E9E}", "i", ["ß"], not: ["S"]),
        Case("k", "i", ["K", "\u{212A}"], not: ["c"]), Case("\u{212A}", "i", ["k"], not: []),
        Case("[a-z]", "i", ["\u{212A}", "\u{17F}"], not: ["ä", "\u{131}"]),
        Case("å", "i", ["Å", "\u{212B}"], not: ["A"]),
        Case("µm", "i", ["\u{39C}M", "μM"], not: ["mm"]),
        Case("ǆ", "i", ["Ǆ", "ǅ"], not: ["dž"]), Case("ᾳ", "i", ["ᾼ"], not: ["α"]),
        Case("(σ)\\1", "i", ["σς", "ΣΣ", "ςΣ"], not: ["σo"]),
        Case("\u{131}", "i", ["\u{131}"], not: ["I", "i"]),
        Case("a b # c", "x", ["ab"], not: ["a b"]),
        Case("a|b|", ["", "c"], not: []),
        Case("^(a|bc)+$", ["a", "bc", "abca"], not: ["b", ""]),
        Case("^a{2,3}$", ["aa", "aaa"], not: ["a", "aaaa"]),
        Case("^a{2}$", ["aa"], not: ["a", "aaa"]),
        Case("^a{2,}$", ["aa", "aaaaa"], not: ["a"]),
        Case("a{,2}", ["a{,2}"], not: ["aa"]),
        Case("^a*?b+?c??$", ["b", "aabbc"], not: ["a"]),
        Case("[a-c]x", ["bx"], not: ["dx"]),
        Case("[^a-c]x", ["dx", "äx"], not: ["ax", "x"]),
        Case("[]a]", ["]", "a"], not: ["b"]),
        Case("[a\\]b-]", ["]", "-"], not: ["c"]),
        Case("[[:alpha:]_]+\\d", ["ab_1"], not: ["1"]),
        Case("\\d\\D\\w\\W\\s\\S", ["1aa- x"], not: ["aaa- x"]),
        Case("\\bfoo\\b", ["a foo b"], not: ["food", "afoo"]),
        Case("\\Afoo\\z", ["foo"], not: ["foo\n"]),
        Case("\\x41\\x{e4}\\t\\.", ["Aä\t."], not: ["Aä\tx"]),
        Case("\\Qa.b\\E+", ["a.b", "a.bb"], not: ["axb"]),
        Case("\\p{Lu}\\P{L}", ["Ä1"], not: ["ä1", "AB"]),
        Case("foo(?=bar)", ["foobar"], not: ["foobaz"]),
        Case("foo(?!bar)", ["foobaz", "foo"], not: ["foobar"]),
        Case("^(?!.*secret).*$", ["open"], not: ["a secret"]),
        Case("(?i)ab(?-i)C", ["aBC"], not: ["abc"]),
        Case("(?i:ab)C", ["ABC"], not: ["abc"]),
        Case("(?<name>a)(?:b)(?#why)c", ["abc"], not: ["ab"]),
        Case("[A-Z]", "i", ["q"], not: ["1"]),
        Case("^(a*)*$", ["", "aaa"], not: ["b"]),
        Case("(?<=a)b", ["ab"], not: ["b", "cb"]),
        Case("(?<!a|bc)d", ["d", "bd"], not: ["ad", "bcd"]),
        Case("^(\\w)(\\w)?\\2\\1$", ["abba"], not: ["aa", "abab"]),
        Case("(?<x>ab)-\\k<x>", ["ab-ab"], not: ["ab-ba"]),
        Case("(?i)(ab)\\g{-1}", ["abAB"], not: ["abba"]),
        Case("^(?>a+)b", ["aab"], not: ["aac"]),
        Case("^a++a", [], not: ["aaa"]),
        Case("^(a*)*\\1b", ["aab", "b"], not: ["ac"]),
        Case("a\\Rb", ["a\r\nb", "a\nb"], not: ["ab"]),
        Case("^\\h\\H\\v\\V$", ["\tx\ny"], not: ["xx\ny"]),
        Case("[[:^digit:]]", ["a"], not: ["1"]),
        Case("\\p{^Lu}", ["a"], not: ["A"]),
        Case("(*UTF8)ä", ["ä"], not: ["a"]),
    ]

    @Test(arguments: [
        "(", ")", "[a", "*a", "a**", "a{3,2}", "(?<=a*)b", "\\1", "(?R)", "(?(1)a)", "\\k<x>", "\\",
    ])
    func `what is no pattern, or is not supported, is refused`(_ pattern: String) {
        let error = #expect(throws: StoreError.self) {
            try CompiledRegex(BSONRegularExpression(pattern))
        }
        #expect(error?.code.rawValue == 51091)
    }

    @Test func `patterns that are too large are refused`() {
        let error = #expect(throws: StoreError.self) {
            try CompiledRegex(BSONRegularExpression("((a{1000}){1000}){1000}"))
        }
        #expect(error?.code.rawValue == 51091)
    }

    @Test func `the pattern that stops backtracking engines is as fast as any`() throws {
        let pattern = try CompiledRegex(BSONRegularExpression("^(a+)+$"))
        #expect(!Self.isFound(pattern, String(repeating: "a", count: 5_000) + "b"))
    }

    private static func isFound(_ pattern: CompiledRegex, _ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { pattern.isFound(in: $0) }
    }
}
