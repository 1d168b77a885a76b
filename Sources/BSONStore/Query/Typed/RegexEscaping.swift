/// The escaping of texts in regular expressions.
enum RegexEscaping {
    /// Returns a pattern that matches a text itself.
    static func escape(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            // MongoDB refuses a pattern with NUL.
            case "\0": pattern += "\\x00"
            case "\\", "^", "$", ".", "|", "?", "*", "+", "(", ")", "[", "]", "{", "}":
                pattern += "\\"
                pattern.unicodeScalars.append(scalar)
            default: pattern.unicodeScalars.append(scalar)
            }
        }
        return pattern
    }
}
