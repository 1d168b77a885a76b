extension ScriptMachine {
    func invoke(
        _ name: String, onText text: String, _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> ScriptValue {
        try charge(2 * text.utf8.count)
        let first = arguments.first ?? .undefined
        switch name {
        case "toLowerCase": return .string(text.lowercased())
        case "toUpperCase": return .string(text.uppercased())
        case "trim": return .string(ScriptText.trimmed(text))
        case "trimStart": return .string(ScriptText.trimmed(text, end: false))
        case "trimEnd": return .string(ScriptText.trimmed(text, start: false))
        case "concat":
            let joined = text + arguments.map(\.text).joined()
            try charge(joined.utf8.count)
            return .string(joined)
        case "localeCompare":
            let other = first.text
            if ScriptValue.isSame(.string(text), .string(other)) { return .number(0) }
            return .number(text.utf16.lexicographicallyPrecedes(other.utf16) ? -1 : 1)
        case "match", "search", "replace", "replaceAll", "split":
            return try search(name, text, arguments)
        case "repeat", "padStart", "padEnd": return try lengthen(name, text, arguments)
        case "slice", "substring", "substr", "charAt", "charCodeAt", "codePointAt":
            return cut(name, Array(text.utf16), arguments)
        default: return try find(name, Array(text.utf16), Array(first.text.utf16), arguments)
        }
    }

    /// Where a part begins first from a place on, or last.
    private func index(
        of part: [UInt16], in units: [UInt16], from: Int = 0, isLast: Bool = false
    ) throws(ScriptStop) -> Int? {
        guard from + part.count <= units.count else { return nil }
        let places = from...units.count - part.count
        for offset in 0..<places.count {
            try step(1 + part.count / 64)
            let place = isLast ? places.upperBound - offset : places.lowerBound + offset
            if units[place..<place + part.count].elementsEqual(part) { return place }
        }
        return nil
    }

    private func find(
        _ name: String, _ units: [UInt16], _ part: [UInt16], _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> ScriptValue {
        let place = arguments.count > 1 ? max(0, min(arguments[1].integer, units.count)) : nil
        switch name {
        case "includes":
            return .bool(try index(of: part, in: units, from: place ?? 0) != nil)
        case "indexOf":
            return .number(Double(try index(of: part, in: units, from: place ?? 0) ?? -1))
        case "lastIndexOf":
            return .number(Double(try index(of: part, in: units, isLast: true) ?? -1))
        case "startsWith": return .bool(units[(place ?? 0)...].starts(with: part))
        default:
            return .bool(units[..<(place ?? units.count)].reversed().starts(with: part.reversed()))
        }
    }

    private func cut(
        _ name: String, _ units: [UInt16], _ arguments: [ScriptValue]
    ) -> ScriptValue {
        let count = units.count
        let second = arguments.dropFirst().first
        switch name {
        case "slice":
            let from = ScriptText.place(arguments.first, count: count, otherwise: 0)
            let end = ScriptText.place(second, count: count, otherwise: count)
            return .string(ScriptText.string(units[from..<max(from, end)]))
        case "substr":
            let from = ScriptText.place(arguments.first, count: count, otherwise: 0)
            let length = second.map { max(0, min($0.integer, count - from)) } ?? count - from
            return .string(ScriptText.string(units[from..<from + length]))
        case "substring":
            func bound(_ value: ScriptValue?, _ otherwise: Int) -> Int {
                guard let value, !ScriptText.isUndefined(value) else { return otherwise }
                return max(0, min(value.integer, count))
            }
            let (one, other) = (bound(arguments.first, 0), bound(second, count))
            return .string(ScriptText.string(units[min(one, other)..<max(one, other)]))
        default:
            let index = arguments.first?.integer ?? 0
            guard units.indices.contains(index) else {
                return name == "charAt"
                    ? .string("") : name == "charCodeAt" ? .number(.nan) : .undefined
            }
            if name == "charAt" { return .string(ScriptText.string([units[index]])) }
            if name == "charCodeAt" { return .number(Double(units[index])) }
            let scalar = ScriptText.string(units[index...].prefix(2)).unicodeScalars.first
            return scalar.map { .number(Double($0.value)) } ?? .undefined
        }
    }

    private func lengthen(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> ScriptValue {
        let count = arguments.first?.integer ?? 0
        if name == "repeat" {
            guard count >= 0, count < ScriptLimits.bytesMax else {
                throw fail("RangeError", "repeat count must be non-negative and less than infinity")
            }
            try charge(count * max(1, text.utf8.count))
            return .string(String(repeating: text, count: count))
        }
        let missing = count - text.utf16.count
        let filler = Array((arguments.count > 1 ? arguments[1].text : " ").utf16)
        guard missing > 0, !filler.isEmpty else { return .string(text) }
        guard missing < ScriptLimits.bytesMax else {
            throw fail("RangeError", "invalid string length")
        }
        try charge(2 * missing)
        let padding = ScriptText.string((0..<missing).map { filler[$0 % filler.count] })
        return .string(name == "padStart" ? padding + text : text + padding)
    }

    // MARK: Patterns

    private func search(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> ScriptValue {
        let first = arguments.first ?? .undefined
        var pattern: ScriptPattern?
        if case .pattern(let given) = first.object?.kind { pattern = given }
        switch name {
        case "split": return try split(text, pattern, arguments)
        case "replace", "replaceAll":
            return try replace(text, pattern, arguments, all: name == "replaceAll")
        default: break
        }
        if pattern == nil {
            let made = try self.pattern(ScriptText.isUndefined(first) ? "(?:)" : first.text, "")
            if case .pattern(let found) = made.object?.kind { pattern = found }
        }
        guard let pattern else { return .null }
        let found = try groups(of: pattern, in: text)
        if name == "search" { return found.object?.own("index") ?? .number(-1) }
        guard pattern.isGlobal, found.object != nil else { return found }
        let bytes = Array(text.utf8)
        let all = try matches(of: pattern, in: text, bytes.count).map {
            ScriptValue.string(String(decoding: bytes[$0.range], as: UTF8.self))
        }
        return .object(ScriptObject(elements: all))
    }

    /// The matches of a pattern one after the other.
    private func matches(
        of pattern: ScriptPattern, in text: String, _ count: Int
    ) throws(ScriptStop) -> [TextMatch] {
        var matches: [TextMatch] = []
        var place = 0
        let bytes = Array(text.utf8)
        while place <= count, let match = pattern.match(in: text, from: place) {
            try step()
            try charge(64)
            matches.append(match)
            place = match.range.upperBound
            if match.range.isEmpty {
                place += 1
                while place < count, bytes[place] & 0xC0 == 0x80 { place += 1 }
            }
        }
        return matches
    }

    private func replace(
        _ text: String, _ pattern: ScriptPattern?, _ arguments: [ScriptValue], all: Bool
    ) throws(ScriptStop) -> ScriptValue {
        let bytes = Array(text.utf8)
        var found: [TextMatch] = []
        if let pattern {
            found = try matches(of: pattern, in: text, bytes.count)
            if !pattern.isGlobal { found = Array(found.prefix(1)) }
        } else {
            let part = Array((arguments.first ?? .undefined).text.utf8)
            var place = 0
            while place + part.count <= bytes.count, all || found.isEmpty {
                try step(1 + part.count / 64)
                if bytes[place..<place + part.count].elementsEqual(part) {
                    found.append(TextMatch(range: place..<place + part.count, groups: []))
                    place += max(1, part.count)
                } else {
                    place += 1
                }
            }
        }
        var result: [UInt8] = []
        var end = 0
        for match in found {
            result += bytes[end..<match.range.lowerBound]
            result += Array(try replacement(match, bytes, arguments).utf8)
            end = match.range.upperBound
            try charge(result.count)
        }
        return .string(String(decoding: result + bytes[end...], as: UTF8.self))
    }

    private func replacement(
        _ match: TextMatch, _ bytes: [UInt8], _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> String {
        func part(_ range: Range<Int>?) -> String {
            range.map { String(decoding: bytes[$0], as: UTF8.self) } ?? ""
        }
        let given = arguments.count > 1 ? arguments[1] : .undefined
        if given.object?.isCallable == true {
            let values =
                [ScriptValue.string(part(match.range))]
                + match.groups.map {
                    $0 == nil ? .undefined : .string(part($0))
                }
            return try call(given, this: .undefined, values, name: "replace").text
        }
        let template = Array(given.text)
        var text = ""
        var index = 0
        while index < template.count {
            let next = index + 1 < template.count ? template[index + 1] : " "
            if template[index] == "$", next == "$" || next == "&" {
                text += next == "$" ? "$" : part(match.range)
                index += 2
            } else if template[index] == "$", let group = next.wholeNumberValue, next.isASCII,
                1...max(1, match.groups.count) ~= group, !match.groups.isEmpty
            {
                text += part(match.groups[group - 1])
                index += 2
            } else {
                text.append(template[index])
                index += 1
            }
        }
        return text
    }

    private func split(
        _ text: String, _ pattern: ScriptPattern?, _ arguments: [ScriptValue]
    ) throws(ScriptStop) -> ScriptValue {
        var parts: [ScriptValue] = []
        if let pattern {
            let bytes = Array(text.utf8)
            var end = 0
            for match in try matches(of: pattern, in: text, bytes.count) {
                if match.range.isEmpty
                    && (match.range.lowerBound == 0 || match.range.lowerBound == bytes.count)
                {
                    continue
                }
                parts.append(
                    .string(String(decoding: bytes[end..<match.range.lowerBound], as: UTF8.self)))
                end = match.range.upperBound
            }
            parts.append(.string(String(decoding: bytes[end...], as: UTF8.self)))
        } else if let separator = arguments.first, !ScriptText.isUndefined(separator) {
            let separator = Array(separator.text.utf16)
            let units = Array(text.utf16)
            if separator.isEmpty {
                parts = units.map { .string(ScriptText.string([$0])) }
            } else {
                var start = 0
                while let found = try index(of: separator, in: units, from: start) {
                    parts.append(.string(ScriptText.string(units[start..<found])))
                    start = found + separator.count
                }
                parts.append(.string(ScriptText.string(units[start...])))
            }
        } else {
            parts = [.string(text)]
        }
        try charge(32 * parts.count)
        if arguments.count > 1, !ScriptText.isUndefined(arguments[1]) {
            parts = Array(parts.prefix(max(0, arguments[1].integer)))
        }
        return .object(ScriptObject(elements: parts))
    }
}
