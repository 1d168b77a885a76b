/// A parser for the options of a collation, with MongoDB's error texts.
///
/// Source: MongoDB manual, "Collation"; error texts as in the 7.0 server.
enum CollationParser {
    static func parse(_ document: BSONDocument) throws(StoreError) -> Collation.Options {
        var options = Collation.Options()
        var named: Set<Name> = []
        var seen: Set<Name> = []
        for (name, value) in document {
            guard named.insert(name).inserted else {
                throw StoreError(
                    .idlDuplicateField, "BSON field 'collation.\(name)' is a duplicate field")
            }
            if value.isNullish, nullable.contains(name) { continue }
            seen.insert(name)
            try read(name, value, into: &options)
        }
        guard seen.contains("locale") else {
            throw StoreError(
                .idlFailedToParse, "BSON field 'collation.locale' is missing but a required field")
        }
        addDefaults(&options, seen)
        try check(options, document)
        return options
    }

    /// The fields for which null is the same as none: all but `backwards`, which the server reads as
    /// a Boolean that it tells from a missing one.
    private static let nullable: Set<Name> = [
        "locale", "caseLevel", "caseFirst", "strength", "numericOrdering", "alternate",
        "maxVariable", "normalization", "version",
    ]

    /// Adds the defaults of some locales for options that the collation omits.
    ///
    /// Source: MongoDB manual, "Collation Default Parameters"; CLDR's tailorings.
    private static func addDefaults(_ options: inout Collation.Options, _ seen: Set<Name>) {
        switch options.locale {
        case "fr_CA": if !seen.contains("backwards") { options.backwards = true }
        case "da", "mt": if !seen.contains("caseFirst") { options.caseFirst = .upper }
        case "th": if !seen.contains("alternate") { options.alternate = .shifted }
        default: break
        }
    }

    private static func read(
        _ name: String, _ value: BSONValue, into options: inout Collation.Options
    ) throws(StoreError) {
        switch name {
        case "locale": options.locale = try text(name, value)
        case "caseLevel": options.caseLevel = try flag(name, value)
        case "caseFirst":
            options.caseFirst = try choice(name, value) { Collation.CaseFirst(rawValue: $0) }
        case "strength": options.strength = try strength(value)
        case "numericOrdering": options.numericOrdering = try flag(name, value)
        case "alternate":
            options.alternate = try choice(name, value) { Collation.Alternate(rawValue: $0) }
        case "maxVariable":
            options.maxVariable = try choice(name, value) { Collation.MaxVariable(rawValue: $0) }
        case "normalization": options.normalization = try flag(name, value)
        case "backwards": options.backwards = try flag(name, value)
        case "version":
            let version = try text(name, value)
            guard version == Collation.version else {
                throw StoreError(
                    .incompatibleCollationVersion,
                    "Requested collation version \(version) but the only available collator "
                        + "version was \(Collation.version).")
            }
        default:
            throw StoreError(
                .idlUnknownField, "BSON field 'collation.\(name)' is an unknown field.")
        }
    }

    private static func check(
        _ options: Collation.Options, _ document: BSONDocument
    ) throws(StoreError) {
        let shown = ShellText.text(of: document)
        if options.locale == "simple" {
            guard document.count == 1 else {
                throw StoreError(
                    .failedToParse,
                    "If locale=simple, no other fields should be present in: \(shown)")
            }
            return
        }
        guard !options.locale.isEmpty else {
            throw StoreError(
                .badValue, "Field 'locale' cannot be the empty string in: \(shown)")
        }
        guard CollationTailoring.locales.contains(options.locale) else {
            let base = options.locale.split(whereSeparator: { "_-@".contains($0) }).first ?? ""
            let hint =
                CollationTailoring.locales.contains(String(base))
                ? ". Did you mean '\(base)'?" : ""
            throw StoreError(.badValue, "Field 'locale' is invalid in: \(shown)\(hint)")
        }
        if options.backwards, options.strength == 1 {
            throw StoreError(
                .badValue, "'backwards' is invalid with 'strength' of 1 in: \(shown)")
        }
        if options.caseFirst != .off, !options.caseLevel, options.strength <= 2 {
            throw StoreError(
                .badValue,
                "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 "
                    + "in: \(shown)")
        }
    }

    private static func text(
        _ name: String, _ value: BSONValue
    ) throws(StoreError) -> String {
        guard let text = value.stringValue else { throw wrongType(name, value, "string") }
        return text
    }

    private static func flag(_ name: String, _ value: BSONValue) throws(StoreError) -> Bool {
        guard let flag = value.boolValue else { throw wrongType(name, value, "bool") }
        return flag
    }

    private static func choice<Choice>(
        _ name: String, _ value: BSONValue, _ make: (String) -> Choice?
    ) throws(StoreError) -> Choice {
        let text = try text(name, value)
        guard let choice = make(text) else { throw invalidChoice(name, text) }
        return choice
    }

    private static func invalidChoice(_ name: String, _ text: String) -> StoreError {
        StoreError(
            .badValue,
            "Enumeration value '\(text)' for field 'collation.\(name)' is not a valid value.")
    }

    private static func strength(_ value: BSONValue) throws(StoreError) -> Int {
        guard value.isNumber else {
            throw StoreError(
                .typeMismatch,
                "BSON field 'collation.strength' is the wrong type '\(value.type.alias)', expected "
                    + "types '[long, int, decimal, double]'")
        }
        guard let number = value.truncatedNumber, (1...5).contains(number) else {
            throw invalidChoice("strength", "\(value.truncatedNumber ?? 0)")
        }
        return Int(number)
    }

    private static func wrongType(
        _ name: String, _ value: BSONValue, _ expected: String
    ) -> StoreError {
        StoreError(
            .typeMismatch,
            "BSON field 'collation.\(name)' is the wrong type '\(value.type.alias)', expected type "
                + "'\(expected)'")
    }
}
