import BSONQuery

extension ScriptInterpreter {
    /// Calls a method of a text that takes a pattern.
    func search(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        var pattern: ScriptRegExp?
        if case .pattern(let given) = first.object?.kind { pattern = given }
        switch name {
        case "split": return try split(text, pattern, arguments)
        case "replace", "replaceAll":
            return try replace(text, pattern, arguments, all: name == "replaceAll")
        default: break
        }
        if pattern == nil {
            let made = try self.pattern(ScriptString.isUndefined(first) ? "(?:)" : first.text, "")
            if case .pattern(let found) = made.object?.kind { pattern = found }
        }
        guard let pattern else { return .null }
        let found = try groups(of: pattern, in: text)
        if name == "search" { return found.object?.own("index") ?? .number(-1) }
        guard pattern.isGlobal, found.object != nil else { return found }
        let all = ScriptObject(elements: [])
        for match in try matches(of: pattern, in: text) {
            all.elements.append(try made(ScriptString.bytes(text, match.range)))
        }
        return .object(all)
    }

    /// Returns the first match of a pattern: the whole, then its groups.
    func groups(of pattern: ScriptRegExp, in text: String) throws(ScriptFailure) -> ScriptValue {
        guard let match = pattern.match(in: text) else { return .null }
        try charge(64)
        let found = ScriptObject(elements: [try made(ScriptString.bytes(text, match.range))])
        for group in match.groups {
            guard let group else {
                found.elements.append(.undefined)
                continue
            }
            found.elements.append(try made(ScriptString.bytes(text, group)))
        }
        found.set(
            "index", .number(Double(ScriptString.unit(text, byte: match.range.lowerBound))))
        return .object(found)
    }

    /// Calls a closure with the matches of a pattern, one after the other.
    private func matches(
        of pattern: ScriptRegExp, in text: String
    ) throws(ScriptFailure) -> [RegexMatch] {
        var matches: [RegexMatch] = []
        var place = 0
        while place <= text.utf8.count, let match = pattern.match(in: text, from: place) {
            try step()
            try charge(64)
            matches.append(match)
            place = match.range.upperBound
            if match.range.isEmpty { place = ScriptString.byte(text, after: place) }
        }
        return matches
    }

    /// Calls a closure with the places of a text in another, one after the other.
    private func matches(
        of part: String, in text: String, all: Bool
    ) throws(ScriptFailure) -> [RegexMatch] {
        var matches: [RegexMatch] = []
        var place = 0
        while all || matches.isEmpty, let found = try index(of: part, in: text, from: place) {
            try charge(64)
            place = found + part.utf8.count
            matches.append(RegexMatch(range: found..<place, groups: []))
            if part.isEmpty { place = ScriptString.byte(text, after: place) }
        }
        return matches
    }

    private func replace(
        _ text: String, _ pattern: ScriptRegExp?, _ arguments: [ScriptValue], all: Bool
    ) throws(ScriptFailure) -> ScriptValue {
        var found: [RegexMatch] = []
        if let pattern {
            found = try matches(of: pattern, in: text)
            if !pattern.isGlobal { found = Array(found.prefix(1)) }
        } else {
            found = try matches(of: (arguments.first ?? .undefined).text, in: text, all: all)
        }
        var result = ""
        var end = 0
        for match in found {
            let new =
                ScriptString.bytes(text, end..<match.range.lowerBound)
                + (try replacement(match, text, arguments))
            try charge(new.utf8.count)
            result += new
            end = match.range.upperBound
        }
        try charge(text.utf8.count - end)
        return .string(result + ScriptString.bytes(text, end..<text.utf8.count))
    }

    private func replacement(
        _ match: RegexMatch, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> String {
        func part(_ range: Range<Int>?) -> String {
            range.map { ScriptString.bytes(text, $0) } ?? ""
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
        _ text: String, _ pattern: ScriptRegExp?, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let parts = ScriptObject(elements: [])
        let count = text.utf8.count
        var end = 0
        func add(until place: Int) throws(ScriptFailure) {
            try charge(32)
            parts.elements.append(try made(ScriptString.bytes(text, end..<place)))
        }
        if let pattern {
            for match in try matches(of: pattern, in: text) {
                let place = match.range.lowerBound
                if match.range.isEmpty && (place == 0 || place == count) { continue }
                try add(until: place)
                end = match.range.upperBound
            }
            try add(until: count)
        } else if let separator = arguments.first, !ScriptString.isUndefined(separator) {
            let separator = separator.text
            if separator.isEmpty {
                try charge(32 * text.utf16.count)
                parts.elements = text.utf16.map { .string(ScriptString.string([$0])) }
            } else {
                while let found = try index(of: separator, in: text, from: end) {
                    try add(until: found)
                    end = found + separator.utf8.count
                }
                try add(until: count)
            }
        } else {
            parts.elements = [.string(text)]
        }
        if arguments.count > 1, !ScriptString.isUndefined(arguments[1]) {
            parts.elements = Array(parts.elements.prefix(max(0, arguments[1].integer)))
        }
        return .object(parts)
    }
}
