/// A search of one text for one regular expression.
struct RegexSearch {
    let text: String
    let pattern: CompiledRegex

    /// A match: its place and the document that describes it.
    struct Match {
        let bytes: Range<Int>
        let codePoint: Int
        let document: BSONDocument
    }

    /// Compiles an expression with its options, `nil` for null.
    ///
    /// - Throws: 51105 to 51111 with MongoDB's text for an invalid expression.
    static func pattern(
        _ name: String, _ regex: BSONValue?, _ options: BSONValue?
    ) throws(StoreError) -> CompiledRegex? {
        var text: String?
        var flags: String?
        switch regex {
        case nil, .null, .undefined: break
        case .string(let value): text = value
        case .regularExpression(let value):
            text = value.pattern
            flags = value.options.isEmpty ? nil : value.options
        default:
            throw .location(51105, "\(name) needs 'regex' to be of type string or regex")
        }
        switch options {
        case nil, .null, .undefined: break
        case .string(let value):
            guard flags == nil else {
                throw .location(
                    51107,
                    "\(name): found regex option(s) specified in both 'regex' and 'option' fields")
            }
            flags = value
        default: throw .location(51106, "\(name) needs 'options' to be of type string")
        }
        guard text?.utf8.contains(0) != true else {
            throw .location(
                51109, "\(name): regular expression cannot contain an embedded null byte")
        }
        guard flags?.utf8.contains(0) != true else {
            throw .location(
                51110, "\(name): regular expression options cannot contain an embedded null byte")
        }
        guard let text else { return nil }
        do throws(StoreError) {
            return try CompiledRegex(
                BSONRegularExpression(text, options: flags ?? ""), keepsGroups: true, for: name)
        } catch {
            throw fault(name, error)
        }
    }

    private static func fault(_ name: String, _ error: StoreError) -> StoreError {
        guard error.code == .invalidRegularExpression else {
            return error
        }
        var reason = error.message[...]
        if let colon = reason.firstIndex(of: ":") { reason = reason[colon...].dropFirst(2) }
        let words = reason.split(separator: " ", omittingEmptySubsequences: false)
        let offset = words.count > 3 && words[words.count - 2] == "offset" ? 3 : 0
        return .location(
            51111, "Invalid Regex in \(name): \(words.dropLast(offset).joined(separator: " "))")
    }

    /// Whether the expression matches somewhere.
    var isFound: Bool {
        text.withUTF8Bytes { pattern.isFound(in: $0) }
    }

    /// The first match.
    var first: BSONValue? {
        text.withUTF8Bytes { bytes in
            var memory = RegexSearchMemory()
            return match(in: bytes, from: 0, codePoints: 0, &memory).map { .document($0.document) }
        }
    }

    /// Returns the first match from an offset on; the same position is also given in code points.
    private func match(
        in bytes: UnsafeRawBufferPointer, from offset: Int, codePoints: Int,
        _ memory: inout RegexSearchMemory
    ) -> Match? {
        guard let found = pattern.match(in: bytes, from: offset, &memory) else { return nil }
        let before = bytes[offset..<found.range.lowerBound].count { $0 & 0xC0 != 0x80 }
        let captures = found.groups.map { group -> BSONValue in
            guard let group else { return .null }
            return .string(String(decoding: bytes[group], as: UTF8.self))
        }
        let matched = String(decoding: bytes[found.range], as: UTF8.self)
        let index = codePoints + before
        return Match(
            bytes: found.range, codePoint: index,
            document: [
                "match": .string(matched), "idx": .int32(Int32(truncatingIfNeeded: index)),
                "captures": .array(BSONArray(captures)),
            ])
    }

    /// All matches that do not overlap.
    var all: [BSONValue] { text.withUTF8Bytes { all(in: $0) } }

    private func all(in bytes: UnsafeRawBufferPointer) -> [BSONValue] {
        var found: [BSONValue] = []
        var size = 0
        var offset = 0
        var codePoint = 0
        var memory = RegexSearchMemory()
        repeat {
            if WorkBudget.isOver() { break }
            let match = match(in: bytes, from: offset, codePoints: codePoint, &memory)
            guard let match else { break }
            found.append(.document(match.document))
            size += match.document.byteCount
            if size > ExpressionLimits.bytesMax { break }
            offset = match.bytes.upperBound
            codePoint = match.codePoint + bytes[match.bytes].count { $0 & 0xC0 != 0x80 }
            if match.bytes.isEmpty, offset < bytes.count {
                // An empty match is followed by a search one character further.
                offset += 1
                while offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset += 1 }
                codePoint += 1
            }
        } while offset < bytes.count
        return found
    }
}
