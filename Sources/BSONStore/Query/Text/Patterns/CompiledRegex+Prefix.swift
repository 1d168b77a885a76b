extension CompiledRegex {
    /// What every text that an expression matches begins with.
    struct Prefix: Equatable {
        let text: String
        /// Whether every text that begins so matches.
        let isWhole: Bool

        /// The text with its last character replaced by the next one, behind all that begin so.
        var following: String {
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

    /// The prefix of an expression that is bound to the beginning; `nil` when there is none.
    ///
    /// Source: MongoDB manual, "$regex", on prefix expressions.
    static func prefix(of expression: BSONRegularExpression) -> Prefix? {
        // Case, lines and blanks change what characters mean.
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
