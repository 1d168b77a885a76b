/// The lines that a person has typed of a statement.
struct ShellStatement {
    /// The text so far.
    private(set) var text = ""

    /// Whether no line has been typed.
    var isEmpty: Bool { text.isEmpty }

    /// Adds a line.
    mutating func append(_ line: String) { text += text.isEmpty ? line : "\n" + line }

    /// Whether every bracket, template and comment ends.
    var isComplete: Bool {
        var depth = 0
        var scalars = text.unicodeScalars[...]
        // The brackets of `${…}` within templates, by the depth at which they began.
        var templates: [Int] = []
        var last: Unicode.Scalar = ";"
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "(", "[", "{": depth += 1
            case "}" where templates.last == depth:
                templates.removeLast()
                guard Self.skipTemplate(&scalars, depth, &templates) else { return false }
            case ")", "]", "}": depth -= 1
            case "'", "\"": Self.skip(&scalars, to: scalar)
            case "`": guard Self.skipTemplate(&scalars, depth, &templates) else { return false }
            case "/" where scalars.first == "/":
                scalars = scalars.drop { $0 != "\n" }
            case "/" where scalars.first == "*":
                scalars.removeFirst()
                guard Self.skipComment(&scalars) else { return false }
            case "/" where "(,=:[!&|?{};\n".unicodeScalars.contains(last):
                Self.skip(&scalars, to: "/")
            default: break
            }
            if scalar != " " { last = scalar }
        }
        return depth <= 0
    }

    /// Skips a string or a pattern, which ends with its line at the latest.
    private static func skip(_ scalars: inout Substring.UnicodeScalarView, to end: Unicode.Scalar) {
        while let scalar = scalars.popFirst() {
            if scalar == end || scalar == "\n" { return }
            if scalar == "\\" { _ = scalars.popFirst() }
        }
    }

    /// Skips the rest of a comment; returns whether it ends.
    private static func skipComment(_ scalars: inout Substring.UnicodeScalarView) -> Bool {
        while let scalar = scalars.popFirst() {
            if scalar == "*", scalars.first == "/" {
                scalars.removeFirst()
                return true
            }
        }
        return false
    }

    /// Skips a template up to its end or its next expression; returns whether there is one.
    private static func skipTemplate(
        _ scalars: inout Substring.UnicodeScalarView, _ depth: Int, _ templates: inout [Int]
    ) -> Bool {
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "`": return true
            case "\\": _ = scalars.popFirst()
            case "$" where scalars.first == "{":
                scalars.removeFirst()
                templates.append(depth)
                return true
            default: continue
            }
        }
        return false
    }
}
