extension CompiledRegex {
    /// The common prefix of all texts that an expression matches.
    package struct Prefix: Equatable {
        package let text: String
        /// Whether every text with this prefix matches.
        package let isWhole: Bool

        /// The prefix with its last character incremented, which sorts behind all texts with the
        /// prefix.
        package var following: String {
            var scalars = Array(text.unicodeScalars)
            while let last = scalars.popLast() {
                let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
                guard let scalar = Unicode.Scalar(next) else { continue }
                scalars.append(scalar)
                break
            }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }
    }

    /// Returns the prefix of an expression that is anchored at the beginning; `nil` if there is
    /// none.
    ///
    /// Source: MongoDB manual, "$regex", on prefix expressions.
    package static func prefix(of expression: BSONRegularExpression) -> Prefix? {
        // The options for case, lines and blanks change the meaning of characters.
        guard !expression.options.contains(where: { "imx".contains($0) }),
            !expression.pattern.contains("|"), !expression.pattern.utf8.contains(0)
        else { return nil }
        var rest = expression.pattern.unicodeScalars[...]
        if rest.starts(with: "^".unicodeScalars) {
            rest = rest.dropFirst()
        } else if rest.starts(with: "\\A".unicodeScalars) {
            rest = rest.dropFirst(2)
        } else {
            return nil
        }
        var found = String.UnicodeScalarView()
        var isWhole = true
        scan: while let scalar = rest.popFirst() {
            switch scalar {
            case "*", "?", "{":
                if !found.isEmpty { found.removeLast() }
                isWhole = false
                break scan
            case "\\":
                guard let escaped = rest.popFirst(), escaped.isASCII,
                    !escaped.properties.isAlphabetic, !("0"..."9").contains(escaped),
                    escaped != "_"
                else {
                    isWhole = false
                    break scan
                }
                found.append(escaped)
            case "^", "$", ".", "[", "]", "(", ")", "+", "}":
                isWhole = false
                break scan
            default: found.append(scalar)
            }
        }
        return found.isEmpty ? nil : Prefix(text: String(found), isWhole: isWhole)
    }
}
