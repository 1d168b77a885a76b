import BSONQuery

/// A regular expression of a script.
final class ScriptRegExp: Sendable {
    let source: String
    let flags: String
    let pattern: CompiledRegex

    /// The names of the groups that have one, by their number from 0 on.
    let names: [(name: String, group: Int)]

    var isGlobal: Bool { flags.contains("g") }
    /// Whether matches begin exactly where the last one ended.
    var isSticky: Bool { flags.contains("y") }

    /// - Throws: 139 for an invalid pattern.
    init(_ source: String, flags: String) throws(StoreError) {
        self.source = source
        self.flags = flags
        names = Self.names(source)
        let options = flags.filter { "ims".contains($0) }
        guard flags.allSatisfy({ "dgimsuy".contains($0) }) else {
            throw ScriptLexer.illegal("invalid regular expression flag")
        }
        guard !source.utf8.contains(0) else {
            throw ScriptLexer.illegal("invalid regular expression: it holds a null character")
        }
        do throws(StoreError) {
            pattern = try CompiledRegex(
                BSONRegularExpression(
                    flags.contains("u") ? Self.withCodePoints(source) : source, options: options),
                keepsGroups: true)
        } catch {
            throw ScriptLexer.illegal("invalid regular expression: \(error.message)")
        }
    }

    /// Returns a pattern with each `\u{61}` as `\x{61}`, which means the same to the store.
    private static func withCodePoints(_ source: String) -> String {
        guard source.contains("\\u{") else { return source }
        var result = ""
        var rest = source[...]
        while let character = rest.popFirst() {
            result.append(character)
            guard character == "\\", let escaped = rest.popFirst() else { continue }
            result.append(escaped == "u" && rest.first == "{" ? "x" : escaped)
        }
        return result
    }

    private static func names(_ source: String) -> [(name: String, group: Int)] {
        guard source.contains("(?<") else { return [] }
        var names: [(name: String, group: Int)] = []
        var (group, isInClass) = (0, false)
        var rest = source[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": _ = rest.popFirst()
            case "[": isInClass = true
            case "]": isInClass = false
            case "(" where !isInClass:
                if rest.hasBytePrefix("?<"), !rest.hasBytePrefix("?<="), !rest.hasBytePrefix("?<!")
                {
                    names.append((String(rest.dropFirst(2).prefix { $0 != ">" }), group))
                } else if rest.first == "?" {
                    continue
                }
                group += 1
            default: break
            }
        }
        return names
    }

    /// Returns the first match.
    func match(in text: String) -> RegexMatch? {
        var memory = RegexSearchMemory()
        return match(in: text, from: 0, &memory)
    }

    /// Returns the first match from an offset in bytes on.
    ///
    /// - Parameter memory: the memory of the searches of this text.
    func match(
        in text: String, from: Int, _ memory: inout RegexSearchMemory
    ) -> RegexMatch? {
        var text = text
        return text.withUTF8 { pattern.match(in: UnsafeRawBufferPointer($0), from: from, &memory) }
    }
}
