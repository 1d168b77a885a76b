/// Holds where a function, initializer, subscript or computed property begins and ends.
struct SwiftFunction: Sendable, Hashable {
    /// The declared name, or the keyword of what has none.
    let name: String
    /// The line of the keyword, counted from 1.
    let line: Int
    /// The number of lines from the keyword to the closing brace.
    let lineCount: Int

    /// Everything with a body in a file; requirements of protocols have none.
    static func functions(of file: SourceFile) -> [SwiftFunction] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard opens(tokens, index), let brace = bodyStart(tokens, after: index) else {
                return nil
            }
            let end = closingBrace(tokens, from: brace)
            let token = tokens[index]
            let isNamed = token.text == "func" || token.text == "var"
            return SwiftFunction(
                name: isNamed ? tokens[index + 1].text : token.text, line: token.line,
                lineCount: tokens[end].line - token.line + 1)
        }
    }

    /// The position of the brace that closes the one at a position, or of the last token.
    static func closingBrace(_ tokens: [SwiftToken], from open: Int) -> Int {
        var depth = 0
        for index in open..<tokens.count {
            if tokens[index].text == "{" { depth += 1 }
            if tokens[index].text == "}" { depth -= 1 }
            if depth == 0 { return index }
        }
        return tokens.count - 1
    }

    private static func opens(_ tokens: [SwiftToken], _ index: Int) -> Bool {
        let keywords: Set = ["func", "init", "deinit", "subscript", "var"]
        guard keywords.contains(tokens[index].text), index + 1 < tokens.count else { return false }
        return index == 0 || tokens[index - 1].text != "."
    }

    /// The brace that opens a body, unless another declaration or statement comes before one.
    private static func bodyStart(_ tokens: [SwiftToken], after index: Int) -> Int? {
        let ends: Set = [
            "}", "@", "func", "init", "deinit", "var", "let", "subscript", "case", "typealias",
            "associatedtype", "struct", "class", "enum", "extension", "protocol", "static",
            "mutating", "public", "package", "private", "internal", "if", "for", "while", "guard",
            "switch", "do", "return", "repeat", "defer",
        ]
        var depth = 0
        for position in index + 1..<tokens.count {
            let text = tokens[position].text
            if text == "(" || text == "[" { depth += 1 }
            if text == ")" || text == "]" { depth -= 1 }
            guard depth == 0 else { continue }
            if text == "{" { return position }
            if ends.contains(text) { return nil }
            if text == "=", tokens[index].text == "var" { return nil }
        }
        return nil
    }
}
