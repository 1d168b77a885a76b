import BSONQuery

/// The locale and the options that a script gives to a method such as `toLocaleString`.
struct ScriptLocaleOptions {
    private let interpreter: ScriptInterpreter
    /// The method as errors name it, such as `Date.prototype.toLocaleString`.
    private let method: String
    private let options: ScriptValue
    /// The locale; `nil` for the default one, `en-US`.
    let locale: String?

    /// Takes the arguments of a call: the locale, or a list of locales, and the options.
    ///
    /// - Throws: an error for arguments of another kind.
    init(
        _ arguments: some Sequence<ScriptValue>, of method: String,
        _ interpreter: ScriptInterpreter
    ) throws(ScriptFailure) {
        self.interpreter = interpreter
        self.method = method
        let arguments = Array(arguments)
        options = arguments.count > 1 ? arguments[1] : .undefined
        var given = arguments.first ?? .undefined
        if given.object?.isArray == true {
            given = try interpreter.property(.string("0"), of: given)
        }
        switch given {
        case .undefined: locale = nil
        case .string(let text): locale = text.hasSameBytes(as: "en-US") ? nil : text
        case .null, .bool, .number, .bigInt, .object:
            throw interpreter.fail("TypeError", "Incorrect locale information provided")
        }
        if case .null = options {
            throw interpreter.fail("TypeError", "Cannot convert undefined or null to object")
        }
    }

    /// Refuses locales other than English of the United States.
    func checkLocale() throws(ScriptFailure) {
        guard let locale, !locale.hasSameBytes(as: "en") else { return }
        throw fail(
            "RangeError",
            "\(method) knows the locale en-US only, and not \(locale); leave the locale out, or "
                + "format the value yourself")
    }

    /// Returns the order of texts that the options of `localeCompare` describe.
    ///
    /// - Throws: a `RangeError` for a locale without an order.
    func collation() throws(ScriptFailure) -> Collation {
        if locale == nil, case .undefined = options, let english = Self.english { return english }
        let sensitivity = try word("sensitivity", ["base", "accent", "case", "variant"])
        let caseFirst = try word("caseFirst", ["upper", "lower", "false"])
        let strength: Int32 =
            switch sensitivity {
            case "base", "case": 1
            case "accent": 2
            default: 3
            }
        var document: BSONDocument = [
            "strength": .int32(strength), "caseLevel": .bool(sensitivity == "case"),
            "caseFirst": .string(caseFirst == "false" ? "off" : caseFirst ?? "off"),
            "numericOrdering": .bool(try flag("numeric") ?? false),
        ]
        if try flag("ignorePunctuation") == true { document["alternate"] = "shifted" }
        let locale = locale ?? "en"
        let language = locale.split(atByte: "-").first.map(String.init) ?? locale
        for name in [
            String(
                decoding: locale.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 },
                as: UTF8.self), language,
        ] {
            document["locale"] = .string(name)
            do throws(StoreError) {
                if let collation = try Collation(document).unlessSimple { return collation }
            } catch {
                // The next name is tried.
                continue
            }
        }
        throw fail("RangeError", "\(method) does not know the locale \(locale)")
    }

    /// The order of texts without options.
    private static let english: Collation? = {
        do throws(StoreError) {
            return try Collation(["locale": "en"])
        } catch {
            return nil
        }
    }()

    /// Refuses options that are not known.
    func refuse(_ names: [String]) throws(ScriptFailure) {
        for name in names where try text(name) != nil {
            throw fail("RangeError", "\(method) does not know the option \(name)")
        }
    }

    /// Returns an option as a text; `nil` if it is not given.
    func text(_ name: String) throws(ScriptFailure) -> String? {
        guard case .object = options else { return nil }
        let value = try interpreter.property(.string(name), of: options)
        if case .undefined = value { return nil }
        return value.text
    }

    /// Returns an option that is one of some words.
    func word(_ name: String, _ words: [String]) throws(ScriptFailure) -> String? {
        guard let text = try text(name) else { return nil }
        guard words.contains(where: { $0.hasSameBytes(as: text) }) else {
            throw fail(
                "RangeError", "Value \(text) out of range for \(method) options property \(name)")
        }
        return text
    }

    /// Returns an option that is a case of a type.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(ScriptFailure) -> Choice? where Choice.RawValue == String {
        guard let text = try word(name, type.allCases.map(\.rawValue)) else { return nil }
        return Choice(rawValue: text)
    }

    /// Returns an option that is a number.
    func integer(_ name: String, _ range: ClosedRange<Int>) throws(ScriptFailure) -> Int? {
        guard let text = try text(name) else { return nil }
        let number = ScriptNumber.value(of: text)
        guard number >= Double(range.lowerBound), number <= Double(range.upperBound) else {
            throw fail("RangeError", "\(name) value is out of range.")
        }
        return Int(number)
    }

    /// Returns an option that is true or false.
    func flag(_ name: String) throws(ScriptFailure) -> Bool? {
        guard case .object = options else { return nil }
        let value = try interpreter.property(.string(name), of: options)
        if case .undefined = value { return nil }
        return value.isTrue
    }

    /// Returns an error to throw.
    func fail(_ kind: String, _ message: String) -> ScriptFailure {
        interpreter.fail(kind, message)
    }
}
