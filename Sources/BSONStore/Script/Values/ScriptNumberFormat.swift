/// The writing of numbers as people in the United States read them, mongosh's default locale.
///
/// Source: ECMA-402, "Intl.NumberFormat"; results as in Node 20.
struct ScriptNumberFormat {
    /// The kind of amount that a number is.
    enum Style: String, CaseIterable {
        case decimal
        case percent
        case currency
    }

    /// The numbers that show their sign.
    enum SignDisplay: String, CaseIterable {
        case auto
        case always
        case never
        case exceptZero
        case negative
    }

    private var style = Style.decimal
    private var signDisplay = SignDisplay.auto
    private var isAccounting = false
    private var isCompact = false
    private var isGrouped = true
    private var symbol = ""
    private var wholeDigitsMin = 1
    private var fractionDigits = 0...3
    /// The digits that count from the first one that is not 0; `nil` for any number of them.
    private var significantDigits: ClosedRange<Int>?
    /// Whether the options give a number of digits.
    private var hasDigits = false

    private static let fractionDigitsMax = 100
    private static let significantDigitsMax = 21
    private static let units = ["", "K", "M", "B", "T"]
    private static let space = "\u{A0}"

    /// The currencies that have a symbol of their own in the United States.
    private static let symbols = [
        "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CNY": "CN¥", "KRW": "₩",
        "BRL": "R$", "CAD": "CA$", "AUD": "A$", "MXN": "MX$", "NZD": "NZ$", "HKD": "HK$",
        "ILS": "₪", "VND": "₫", "TWD": "NT$", "PHP": "₱",
    ]
    /// The currencies whose smallest unit is not a hundredth.
    private static let fractions = [
        "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
        "RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
        "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
    ]

    /// Reads the options of `toLocaleString`.
    ///
    /// - Throws: the `RangeError` or `TypeError` of an invalid option.
    init(_ options: ScriptLocaleOptions) throws(ScriptFailure) {
        try options.refuse(["unit", "unitDisplay", "numberingSystem", "compactDisplay"])
        style = try options.choice("style", Style.self) ?? .decimal
        signDisplay = try options.choice("signDisplay", SignDisplay.self) ?? .auto
        isAccounting = try options.word("currencySign", ["standard", "accounting"]) == "accounting"
        isCompact = try options.word("notation", ["standard", "compact"]) == "compact"
        let grouping = try options.word(
            "useGrouping", ["true", "false", "auto", "always", "min2"])
        isGrouped = grouping != "false"
        wholeDigitsMin =
            try options.integer("minimumIntegerDigits", 1...Self.significantDigitsMax) ?? 1
        let digits = try readCurrency(options)
        try readFraction(options, digits)
        try readSignificant(options)
    }

    /// Reads the currency and returns the usual numbers of digits behind the point.
    private mutating func readCurrency(
        _ options: ScriptLocaleOptions
    ) throws(ScriptFailure) -> ClosedRange<Int> {
        let currency = try options.text("currency")?.uppercased()
        let display = try options.word("currencyDisplay", ["symbol", "narrowSymbol", "code"])
        if let currency {
            guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (65...90).contains($0) })
            else { throw options.fail("RangeError", "Invalid currency code : \(currency)") }
        }
        switch style {
        case .decimal: return 0...3
        case .percent: return 0...0
        case .currency: break
        }
        guard let currency else {
            throw options.fail("TypeError", "Currency code is required with currency style.")
        }
        symbol = display == "code" ? currency : Self.symbols[currency] ?? currency
        let digits = Self.fractions[currency] ?? 2
        return digits...digits
    }

    private mutating func readFraction(
        _ options: ScriptLocaleOptions, _ usual: ClosedRange<Int>
    ) throws(ScriptFailure) {
        let all = 0...Self.fractionDigitsMax
        let least = try options.integer("minimumFractionDigits", all)
        let most = try options.integer("maximumFractionDigits", all)
        if let least, let most, least > most {
            throw options.fail("RangeError", "maximumFractionDigits value is out of range.")
        }
        hasDigits = least != nil || most != nil
        let upper = most ?? max(usual.upperBound, least ?? 0)
        fractionDigits = (least ?? min(usual.lowerBound, upper))...upper
    }

    private mutating func readSignificant(_ options: ScriptLocaleOptions) throws(ScriptFailure) {
        let all = 1...Self.significantDigitsMax
        let least = try options.integer("minimumSignificantDigits", all)
        let most = try options.integer("maximumSignificantDigits", all)
        guard least != nil || most != nil else { return }
        let lower = least ?? 1
        guard lower <= most ?? all.upperBound else {
            throw options.fail("RangeError", "maximumSignificantDigits value is out of range.")
        }
        hasDigits = true
        significantDigits = lower...(most ?? all.upperBound)
    }

    // MARK: Writing

    /// Returns the text of a number.
    func text(_ number: Double) -> String {
        if number.isNaN { return signed("NaN", isNegative: false, isZero: true) }
        let isNegative = number.sign == .minus
        if number.isInfinite { return signed("∞", isNegative: isNegative, isZero: false) }
        var amount = ScriptDecimal(abs(number))
        if style == .percent { amount.point += 2 }
        guard isCompact else {
            amount = rounded(amount)
            return signed(written(amount), isNegative: isNegative, isZero: amount.isZero)
        }
        var unit = min(Self.units.count - 1, max(0, (amount.point - 1) / 3))
        var scaled = compacted(amount, unit)
        if scaled.point > 3, unit + 1 < Self.units.count {
            unit += 1
            scaled = compacted(amount, unit)
        }
        return signed(
            written(scaled) + Self.units[unit], isNegative: isNegative, isZero: scaled.isZero)
    }

    private func compacted(_ amount: ScriptDecimal, _ unit: Int) -> ScriptDecimal {
        var amount = amount
        amount.point -= 3 * unit
        // Two digits, or all of those before the point.
        return hasDigits ? rounded(amount) : amount.rounded(keeping: max(2, amount.point))
    }

    private func rounded(_ amount: ScriptDecimal) -> ScriptDecimal {
        if let significantDigits { return amount.rounded(keeping: significantDigits.upperBound) }
        return amount.rounded(keeping: amount.point + fractionDigits.upperBound)
    }

    /// Returns the digits of an amount that is rounded, with a point and commas.
    private func written(_ amount: ScriptDecimal) -> String {
        let whole = amount.whole
        var text = String(repeating: "0", count: max(0, wholeDigitsMin - whole.utf8.count)) + whole
        if isGrouped { text = Self.grouped(text) }
        let least =
            if let significantDigits {
                significantDigits.lowerBound - (amount.isZero ? 1 : amount.point)
            } else if isCompact, !hasDigits { 0 } else { fractionDigits.lowerBound }
        let fraction = amount.fraction
        let zeros = String(repeating: "0", count: max(0, least - fraction.utf8.count))
        let digits = fraction + zeros
        return digits.isEmpty ? text : "\(text).\(digits)"
    }

    private static func grouped(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.utf8.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Returns a text with the sign, and the symbol of its style.
    private func signed(_ text: String, isNegative: Bool, isZero: Bool) -> String {
        var text = text
        if style == .percent { text += "%" }
        if style == .currency {
            // A code and its amount would run into each other.
            let isApart =
                symbol.utf8.last.map { (65...90).contains($0) } == true
                && text.utf8.first.map { (48...57).contains($0) } == true
            text = symbol + (isApart ? Self.space : "") + text
        }
        switch (sign(isNegative, isZero), isAccounting && style == .currency) {
        case ("-", true): return "(\(text))"
        case (let sign, _): return sign + text
        }
    }

    private func sign(_ isNegative: Bool, _ isZero: Bool) -> String {
        switch signDisplay {
        case .auto: isNegative ? "-" : ""
        case .always: isNegative ? "-" : "+"
        case .never: ""
        case .exceptZero: isZero ? "" : isNegative ? "-" : "+"
        case .negative: isNegative && !isZero ? "-" : ""
        }
    }
}
