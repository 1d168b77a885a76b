import BSONQuery

extension ScriptInterpreter {
    /// Calls a method of a text, which is read in place: only new texts count as memory.
    func invoke(
        _ name: String, onText text: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch name {
        case "toLowerCase":
            try look(at: text.utf8.count)
            return try made(text.lowercased())
        case "toUpperCase":
            try look(at: text.utf8.count)
            return try made(text.uppercased())
        case "trim", "trimStart", "trimEnd":
            try look(at: text.utf8.count)
            return try made(
                ScriptString.trimmed(text, start: name != "trimEnd", end: name != "trimStart"))
        case "concat": return .string(try joined([.string(text)] + arguments) { $0 })
        case "localeCompare":
            let other = first.text
            try look(at: min(text.utf8.count, other.utf8.count))
            if ScriptValue.isSame(.string(text), .string(other)) { return .number(0) }
            return .number(text.utf16.lexicographicallyPrecedes(other.utf16) ? -1 : 1)
        case "match", "search", "replace", "replaceAll", "split":
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
    func made(_ text: String) throws(ScriptFailure) -> ScriptValue {
        try charge(text.utf8.count)
        return .string(text)
    }

    /// Counts the time for reading a number of bytes.
    private func look(at count: Int) throws(ScriptFailure) { try step(1 + count / 64) }

    /// Returns the first place of a part from a place on, or the last before it, in bytes.
    func index(
        of part: String, in text: String, from: Int = 0, isLast: Bool = false
    ) throws(ScriptFailure) -> Int? {
        let last = text.utf8.count - part.utf8.count
        var rest = isLast ? 0..<max(0, min(from, last) + 1) : from..<max(from, last + 1)
        // The search proceeds in blocks, so that the clock is read often enough.
        let countMax = max(1, min(4_096, 65_536 / max(1, part.utf8.count)))
        while !rest.isEmpty {
            let places = isLast ? rest.suffix(countMax) : rest.prefix(countMax)
            if let found = ScriptString.place(of: part, in: text, places, isLast: isLast) {
                try step(1 + (isLast ? places.upperBound - found : found - places.lowerBound))
                return found
            }
            try step(places.count)
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
                throw fail("RangeError", "repeat count must be non-negative and less than infinity")
            }
            try charge(max(1, text.utf8.count), times: count)
            return .string(String(repeating: text, count: count))
        }
        let missing = count - text.utf16.count
        let filler = Array((arguments.count > 1 ? arguments[1].text : " ").utf16)
        guard missing > 0, !filler.isEmpty else { return .string(text) }
        guard missing < ScriptLimits.bytesMax else {
            throw fail("RangeError", "invalid string length")
        }
        try charge(2 * missing + text.utf8.count)
        let padding = ScriptString.string((0..<missing).map { filler[$0 % filler.count] })
        return .string(name == "padStart" ? padding + text : text + padding)
    }
}
