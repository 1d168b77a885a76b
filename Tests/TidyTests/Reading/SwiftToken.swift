/// Holds a word, or one other character, of Swift code.
struct SwiftToken: Sendable, Hashable {
    /// The word or the character.
    let text: String
    /// The line it stands on, counted from 1.
    let line: Int
    /// Whether it follows the token before without a blank.
    let isAttached: Bool

    /// The tokens of a text; comments and the insides of string literals give none.
    static func tokens(of text: String) -> [SwiftToken] {
        var blanker = Blanker(Array(text.utf8))
        var tokens: [SwiftToken] = []
        var word: [UInt8] = []
        var line = 1
        var isAttached = false
        func append(_ text: String) {
            tokens.append(SwiftToken(text: text, line: line, isAttached: isAttached))
            isAttached = true
        }
        func close() {
            if !word.isEmpty { append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        for byte in blanker.blanked() {
            if isWord(byte) {
                word.append(byte)
                continue
            }
            close()
            if byte == UInt8(ascii: "\n") {
                line += 1
                isAttached = false
            } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
                isAttached = false
            } else {
                append(String(UnicodeScalar(byte)))
            }
        }
        close()
        return tokens
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xFF:
            true
        default: false
        }
    }
}

/// Replaces comments and the insides of string literals by blanks; interpolations stay code.
private struct Blanker {
    private let source: [UInt8]
    private var output: [UInt8]
    private var at = 0

    /// Whether a byte may begin or end a comment, a string or an interpolation.
    private static let isSpecial: [Bool] = {
        var bytes = [Bool](repeating: false, count: 256)
        for byte in "/#\"()\\\n".utf8 { bytes[Int(byte)] = true }
        return bytes
    }()

    init(_ source: [UInt8]) {
        self.source = source
        output = source
    }

    mutating func blanked() -> [UInt8] {
        code(inParentheses: false)
        return output
    }

    private mutating func code(inParentheses: Bool) {
        var depth = 0
        while at < source.count {
            // Nearly every byte is a plain one; the tests read millions, without optimisation.
            if !Self.isSpecial[Int(source[at])] {
                at += 1
            } else if isNext("//") {
                while at < source.count, source[at] != UInt8(ascii: "\n") { blank() }
            } else if isNext("/*") {
                blockComment()
            } else if let pounds = stringStart() {
                string(pounds: pounds)
            } else {
                if isNext("(") { depth += 1 }
                if isNext(")") { depth -= 1 }
                at += 1
                if inParentheses, depth == 0 { return }
            }
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            let step = isNext("/*") ? 1 : isNext("*/") ? -1 : 0
            depth += step
            for _ in 0...abs(step) { blank() }
        } while depth > 0 && at < source.count
    }

    /// How many `#` stand before the quote of a string that begins here; `nil` when none does.
    private func stringStart() -> Int? {
        var pounds = 0
        while at + pounds < source.count, source[at + pounds] == UInt8(ascii: "#") { pounds += 1 }
        guard at + pounds < source.count, source[at + pounds] == UInt8(ascii: "\"") else {
            return nil
        }
        return pounds
    }

    private mutating func string(pounds: Int) {
        at += pounds
        let quotes = isNext("\"\"\"") ? "\"\"\"" : "\""
        let fence = String(repeating: "#", count: pounds)
        at += quotes.utf8.count
        while at < source.count {
            if !Self.isSpecial[Int(source[at])] {
                blank()
            } else if isNext(quotes + fence) {
                at += quotes.utf8.count + pounds
                return
            } else if isNext("\\" + fence + "(") {
                for _ in 0...pounds { blank() }
                code(inParentheses: true)
            } else if isNext("\\" + fence) {
                for _ in 0...pounds + 1 { blank() }
            } else if quotes == "\"", source[at] == UInt8(ascii: "\n") {
                return
            } else {
                blank()
            }
        }
    }

    private func isNext(_ text: String) -> Bool {
        source[at...].starts(with: text.utf8)
    }

    private mutating func blank() {
        guard at < source.count else { return }
        if source[at] != UInt8(ascii: "\n") { output[at] = UInt8(ascii: " ") }
        at += 1
    }
}
