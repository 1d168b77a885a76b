// Texts are compared as MongoDB compares them: by code points, so that "é" and "e" with a combining
// accent differ.
extension Field where Value: TextFieldValue {
    /// The condition that the text begins with another: `{name: {$regex: "^…"}}`.
    public func hasPrefix(_ prefix: String, caseInsensitive: Bool = false) -> TypedFilter {
        pattern("^" + RegexEscaping.escape(prefix), caseInsensitive)
    }

    /// The condition that the text ends with another: `{name: {$regex: "…\\z"}}`.
    public func hasSuffix(_ suffix: String, caseInsensitive: Bool = false) -> TypedFilter {
        pattern(RegexEscaping.escape(suffix) + "\\z", caseInsensitive)
    }

    /// The condition that the text contains another: `{name: {$regex: "…"}}`.
    public func contains(_ part: String, caseInsensitive: Bool = false) -> TypedFilter {
        pattern(RegexEscaping.escape(part), caseInsensitive)
    }

    /// The condition that the text equals another except for the case of letters.
    public func equals(caseInsensitive text: String) -> TypedFilter {
        pattern("^" + RegexEscaping.escape(text) + "\\z", true)
    }

    /// The condition that a regular expression matches a part of the text.
    ///
    /// ```swift
    /// people.find { $0.name.matches("^A.*n$", options: "i") }
    /// ```
    ///
    /// - Parameter options: MongoDB's letters: `i` ignores the case, `m` lets `^` and `$` match at
    ///   lines, `s` lets the dot match a newline, `x` ignores blanks in the expression.
    public func matches(_ expression: String, options: String = "") -> TypedFilter {
        test(.pattern(expression, options: options))
    }

    /// The condition that the text is empty: `{name: ""}`.
    public var isEmpty: TypedFilter { test(.compare(.equal, TypedValue(""))) }

    private func pattern(_ pattern: String, _ caseInsensitive: Bool) -> TypedFilter {
        test(.pattern(pattern, options: caseInsensitive ? "i" : ""))
    }
}
