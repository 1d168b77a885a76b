import BSONQuery

/// The methods of texts in a run of a script, those that take a pattern too.
struct ScriptStringMethods {
    let interpreter: ScriptInterpreter

    /// Calls a method of a text, which is read in place: only new texts count as memory.
    func invoke(
        _ name: String, on text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch name {
        case "toLowerCase":
            try look(at: text.utf8.count)
            return try made(text.lowercased())
        case "toUpperCase":
            try look(at: text.utf8.count)
            return try made(text.uppercased())
        case "at":
            let index = first.integer
            return ScriptString.character(text, index < 0 ? text.utf16.count + index : index)
        case "normalize": return .string(text)
        case "trimLeft": return try invoke("trimStart", on: text, [])
        case "trimRight": return try invoke("trimEnd", on: text, [])
        case "trim", "trimStart", "trimEnd":
            try look(at: text.utf8.count)
            return try made(
                ScriptString.trimmed(text, start: name != "trimEnd", end: name != "trimStart"))
        case "concat": return .string(try interpreter.joined([.string(text)] + arguments) { $0 })
        case "localeCompare":
            let other = first.text
            try look(at: min(text.utf8.count, other.utf8.count))
            if ScriptValue.isSame(.string(text), .string(other)) { return .number(0) }
            if interpreter.options.keepsNumberTypes {
                try look(at: text.utf8.count + other.utf8.count)
                let options = try ScriptLocaleOptions(
                    arguments.dropFirst(), of: "String.prototype.localeCompare", interpreter)
                let collation = try options.collation()
                return .number(Double(collation.compare(text, other).rawValue))
            }
            return .number(text.utf16.lexicographicallyPrecedes(other.utf16) ? -1 : 1)
        case "match", "matchAll", "search", "replace", "replaceAll", "split":
            return try search(name, text, arguments)
        case "repeat", "padStart", "padEnd": return try lengthen(name, text, arguments)
        case "charAt", "charCodeAt", "codePointAt": return character(name, text, first.integer)
        case "slice", "substring", "substr":
            return try made(ScriptString.units(text, range(name, text.utf16.count, arguments)))
        case "startsWith", "endsWith": return try bounds(name, text, arguments)
        default: return try find(name, text, arguments)
        }
    }

    /// Returns a new text, counted as memory.
    private func made(_ text: String) throws(ScriptFailure) -> ScriptValue {
        try interpreter.charge(text.utf8.count)
        return .string(text)
    }

    /// Counts the time for reading a number of bytes.
    private func look(at count: Int) throws(ScriptFailure) { try interpreter.step(1 + count / 64) }

    /// Returns the first place of a part from a place on, or the last before it, in bytes.
    private func index(
        of part: String, in text: String, from: Int = 0, isLast: Bool = false
    ) throws(ScriptFailure) -> Int? {
        let last = text.utf8.count - part.utf8.count
        var rest = isLast ? 0..<max(0, min(from, last) + 1) : from..<max(from, last + 1)
        // The search proceeds in blocks, so that the clock is read often enough.
        let countMax = max(1, min(4_096, 65_536 / max(1, part.utf8.count)))
        while !rest.isEmpty {
            let places = isLast ? rest.suffix(countMax) : rest.prefix(countMax)
            if let found = ScriptString.place(of: part, in: text, places, isLast: isLast) {
                try interpreter.step(
                    1 + (isLast ? places.upperBound - found : found - places.lowerBound))
                return found
            }
            try interpreter.step(places.count)
            rest =
                isLast
                ? rest.lowerBound..<places.lowerBound : places.upperBound..<rest.upperBound
        }
        return nil
    }

    private func find(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let part = (arguments.first ?? .undefined).text
        let isLast = name == "lastIndexOf"
        let count = text.utf16.count
        var place = isLast ? count : 0
        if arguments.count > 1, !isLast || !arguments[1].number.isNaN {
            place = max(0, min(arguments[1].integer, count))
        }
        var found: Int? = place
        if !part.isEmpty {
            let from = ScriptString.byte(text, unit: place, isUp: !isLast)
            found = try index(of: part, in: text, from: from, isLast: isLast)
                .map { ScriptString.unit(text, byte: $0) }
        }
        return name == "includes" ? .bool(found != nil) : .number(Double(found ?? -1))
    }

    private func bounds(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let part = (arguments.first ?? .undefined).text.utf16
        let count = text.utf16.count
        var place = name == "startsWith" ? 0 : count
        if arguments.count > 1, !ScriptString.isUndefined(arguments[1]) {
            place = max(0, min(arguments[1].integer, count))
        }
        if name == "endsWith" { place -= part.count }
        guard place >= 0, part.count <= count - place else { return .bool(false) }
        try look(at: part.count)
        let units = text.utf16
        let rest = units[units.index(units.startIndex, offsetBy: place)...]
        return .bool(rest.starts(with: part))
    }

    /// Returns the units of a text that `slice` and similar methods select.
    private func range(_ name: String, _ count: Int, _ arguments: [ScriptValue]) -> Range<Int> {
        let second = arguments.dropFirst().first
        switch name {
        case "slice":
            let from = ScriptString.place(arguments.first, count: count, otherwise: 0)
            let end = ScriptString.place(second, count: count, otherwise: count)
            return from..<max(from, end)
        case "substr":
            let from = ScriptString.place(arguments.first, count: count, otherwise: 0)
            let length = second.map { max(0, min($0.integer, count - from)) } ?? count - from
            return from..<from + length
        default:
            func bound(_ value: ScriptValue?, _ otherwise: Int) -> Int {
                guard let value, !ScriptString.isUndefined(value) else { return otherwise }
                return max(0, min(value.integer, count))
            }
            let (one, other) = (bound(arguments.first, 0), bound(second, count))
            return min(one, other)..<max(one, other)
        }
    }

    private func character(_ name: String, _ text: String, _ place: Int) -> ScriptValue {
        let units = text.utf16
        guard 0..<units.count ~= place else {
            return name == "charAt"
                ? .string("") : name == "charCodeAt" ? .number(.nan) : .undefined
        }
        if name == "charAt" { return .string(ScriptString.units(text, place..<place + 1)) }
        let index = units.index(units.startIndex, offsetBy: place)
        let unit = units[index]
        if name == "codePointAt", UTF16.isLeadSurrogate(unit) {
            return .number(Double(text.unicodeScalars[index].value))
        }
        return .number(Double(unit))
    }

    private func lengthen(
        _ name: String, _ text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let count = arguments.first?.integer ?? 0
        if name == "repeat" {
            guard count >= 0, count < ScriptLimits.bytesMax else {
                throw interpreter.fail(
                    "RangeError", "repeat count must be non-negative and less than infinity")
            }
            try interpreter.charge(max(1, text.utf8.count), times: count)
            return .string(String(repeating: text, count: count))
        }
        let missing = count - text.utf16.count
        let filler = Array((arguments.count > 1 ? arguments[1].text : " ").utf16)
        guard missing > 0, !filler.isEmpty else { return .string(text) }
        guard missing < ScriptLimits.bytesMax else {
            throw interpreter.fail("RangeError", "invalid string length")
        }
        try interpreter.charge(2 * missing + text.utf8.count)
        let padding = ScriptString.string((0..<missing).map { filler[$0 % filler.count] })
        return .string(name == "padStart" ? padding + text : text + padding)
    }

    // MARK: Patterns

    /// Calls a method of a text that takes a pattern.
    private func search(
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
            let made = try interpreter.pattern(
                ScriptString.isUndefined(first) ? "(?:)" : first.text, "")
            if case .pattern(let found) = made.object?.kind { pattern = found }
        }
        guard let pattern else { return .null }
        let found = try groups(of: pattern, in: text)
        if name == "matchAll" {
            let all = ScriptObject(elements: [])
            for match in try matches(of: pattern, in: text) {
                all.elements.append(try groups(match, of: pattern, in: text))
            }
            return .object(ScriptObject(.iterator(ScriptIterator(all.elements))))
        }
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
        return try groups(match, of: pattern, in: text)
    }

    /// Returns a match: the whole, then its groups.
    func groups(
        _ match: RegexMatch, of pattern: ScriptRegExp, in text: String
    ) throws(ScriptFailure) -> ScriptValue {
        try interpreter.charge(64)
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
        if interpreter.options.keepsNumberTypes {
            found.hide("input", .string(text))
            if let index = found.own("index") { found.hide("index", index) }
        }
        if !pattern.names.isEmpty {
            let named = ScriptObject()
            for (name, group) in pattern.names where group + 1 < found.elements.count {
                named.set(name, found.elements[group + 1])
            }
            found.hide("groups", .object(named))
        }
        return .object(found)
    }

    /// Calls a closure with the matches of a pattern, one after the other.
    private func matches(
        of pattern: ScriptRegExp, in text: String
    ) throws(ScriptFailure) -> [RegexMatch] {
        var matches: [RegexMatch] = []
        var place = 0
        var memory = RegexSearchMemory()
        while place <= text.utf8.count, let match = pattern.match(in: text, from: place, &memory) {
            try interpreter.step()
            try interpreter.charge(64)
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
            try interpreter.charge(64)
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
                + (try replacement(match, text, arguments, pattern?.names ?? []))
            try interpreter.charge(new.utf8.count)
            result += new
            end = match.range.upperBound
        }
        try interpreter.charge(text.utf8.count - end)
        return .string(result + ScriptString.bytes(text, end..<text.utf8.count))
    }

    private func replacement(
        _ match: RegexMatch, _ text: String, _ arguments: [ScriptValue],
        _ names: [(name: String, group: Int)]
    ) throws(ScriptFailure) -> String {
        func part(_ range: Range<Int>?) -> String {
            range.map { ScriptString.bytes(text, $0) } ?? ""
        }
        let given = arguments.count > 1 ? arguments[1] : .undefined
        if given.object?.isCallable == true {
            var values =
                [ScriptValue.string(part(match.range))]
                + match.groups.map {
                    $0 == nil ? .undefined : .string(part($0))
                }
            values.append(.number(Double(ScriptString.unit(text, byte: match.range.lowerBound))))
            values.append(.string(text))
            return try interpreter.text(
                try interpreter.call(given, this: .undefined, values, name: "replace"))
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
            } else if template[index] == "$", next == "<", !names.isEmpty,
                let end = template[index...].firstIndex(of: ">")
            {
                let name = String(template[(index + 2)..<end])
                let group = names.first { $0.name.hasSameBytes(as: name) }?.group
                text += group.map { part(match.groups[$0]) } ?? ""
                index = end + 1
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
            try interpreter.charge(32)
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
                try interpreter.charge(32 * text.utf16.count)
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
