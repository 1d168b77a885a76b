import BSONQuery

/// A regular expression of a script.
final class ScriptRegExp: Sendable {
    let source: String
    let flags: String
    let pattern: CompiledRegex

    var isGlobal: Bool { flags.contains("g") }

    /// - Throws: 139 for an invalid pattern.
    init(_ source: String, flags: String) throws(StoreError) {
        self.source = source
        self.flags = flags
        let options = flags.filter { "ims".contains($0) }
        guard flags.allSatisfy({ "dgimsuy".contains($0) }) else {
            throw ScriptLexer.illegal("invalid regular expression flag")
        }
        guard !source.utf8.contains(0) else {
            throw ScriptLexer.illegal("invalid regular expression: it holds a null character")
        }
        do throws(StoreError) {
            pattern = try CompiledRegex(
                BSONRegularExpression(source, options: options), keepsGroups: true)
        } catch {
            throw ScriptLexer.illegal("invalid regular expression: \(error.message)")
        }
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
