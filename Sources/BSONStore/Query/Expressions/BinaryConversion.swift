/// The conversion of binaries to texts and numbers, and back, for `$convert`.
///
/// Source: MongoDB manual, "$convert", "Converting to a BinData", version 8.2.
struct BinaryConversion: Sendable {
    /// A text's form for bytes.
    enum Format: String, Sendable {
        case auto, base64, base64url, hex, utf8, uuid
    }

    /// The order of a number's bytes.
    enum ByteOrder: String, Sendable {
        case little, big
    }

    /// The subtype of UUIDs.
    static let uuidSubtype: UInt8 = 4

    /// The subtype of a binary that is created.
    var subtype: UInt8 = 0
    /// The form of the text, which a conversion between texts and binaries requires.
    var format: Format?
    var byteOrder = ByteOrder.little

    /// Parses the argument `subtype` of the target.
    ///
    /// - Throws: 4341106, 4341107 and 4341108 for an invalid subtype.
    static func subtype(_ value: BSONValue?) throws(StoreError) -> UInt8 {
        guard let value, !NumberCoercion.isNullish(value) else { return 0 }
        guard NumberCoercion.isNumber(value) else {
            throw .location(
                4_341_108,
                "For BinData, $convert's 'subtype' argument must be a number, but is "
                    + ExpressionText.type(of: value))
        }
        guard let number = NumberCoercion.exact32(value) else {
            throw .location(
                4_341_106, "In $convert, numeric 'subtype' argument is not an integer")
        }
        guard let subtype = UInt8(exactly: number), subtype <= 9 || subtype >= 128 else {
            throw .location(
                4_341_107,
                "In $convert, numeric value for 'subtype' does not correspond to a BinData type: "
                    + String(number))
        }
        return subtype
    }

    /// Parses the argument `format`; `nil` without one.
    ///
    /// - Throws: 4341114 and 4341125 for an invalid format.
    static func format(_ value: BSONValue?) throws(StoreError) -> Format? {
        try choice("format", value, noString: 4_341_114, unknown: 4_341_125)
    }

    /// Parses the argument `byteOrder`, little-endian without one.
    ///
    /// - Throws: 9130001 and 9130002 for an invalid order.
    static func byteOrder(_ value: BSONValue?) throws(StoreError) -> ByteOrder {
        try choice("byteOrder", value, noString: 9_130_001, unknown: 9_130_002) ?? .little
    }

    /// Parses an argument that is one of several words; `nil` without one.
    ///
    /// - Parameters:
    ///   - noString: the error's code for a value that is not a string.
    ///   - unknown: the error's code for another word.
    private static func choice<Choice: RawRepresentable<String>>(
        _ name: String, _ value: BSONValue?, noString: Int32, unknown: Int32
    ) throws(StoreError) -> Choice? {
        guard let value, !NumberCoercion.isNullish(value) else { return nil }
        guard case .string(let word) = value else {
            throw .location(
                noString,
                "$convert requires that '\(name)' be a string, found: "
                    + "\(ExpressionText.type(of: value)) with value "
                    + ExpressionText.text(of: value))
        }
        guard let choice = Choice(rawValue: word) else {
            throw .location(unknown, "Invalid '\(name)' argument for $convert: \(word)")
        }
        return choice
    }

    /// Converts a value to a binary.
    ///
    /// - Throws: `conversionFailure`, or 4341115 for a text without a format.
    func binary(_ value: BSONValue) throws(StoreError) -> BSONBinary {
        switch value {
        case .double(let number): return binary(of: number.bitPattern)
        case .string(let text):
            return BSONBinary(try bytes(of: text, try requiredFormat), subtype: subtype)
        case .binary(let binary):
            guard binary.subtype == subtype else {
                throw ExpressionConversion.failure(
                    "Conversions between different binData subtypes are not supported")
            }
            return binary
        case .int32(let number): return binary(of: number)
        case .int64(let number): return binary(of: number)
        default: throw ExpressionConversion.unsupported(value, "binData")
        }
    }

    /// Converts a binary to a text.
    ///
    /// - Throws: `conversionFailure`, or 4341115 without a format.
    func text(_ binary: BSONBinary) throws(StoreError) -> String {
        let bytes = binary.storedBytes
        let text: String
        switch try requiredFormat {
        case .auto where binary.subtype == Self.uuidSubtype && bytes.count == 16, .uuid:
            guard binary.subtype == Self.uuidSubtype, bytes.count == 16 else {
                throw fault("a binary that is no UUID has no 'uuid' format")
            }
            let digits = Self.hexadecimal(bytes, isUpper: false)
            text = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
                .map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
        case .auto, .base64:
            text = try Self.checked(bytes.count * 4 / 3) { Self.base64(bytes, isURL: false) }
        case .base64url:
            text = try Self.checked(bytes.count * 4 / 3) { Self.base64(bytes, isURL: true) }
        case .hex:
            text = try Self.checked(bytes.count * 2) {
                String(decoding: Self.hexadecimal(bytes, isUpper: true), as: UTF8.self)
            }
        case .utf8:
            guard let decoded = String(validating: bytes, as: UTF8.self) else {
                throw fault("the bytes are not valid UTF-8")
            }
            text = decoded
        }
        return text
    }

    /// Converts a binary of 1, 2, 4 or, if it is wide enough, 8 bytes to a whole number.
    ///
    /// - Throws: `conversionFailure` for another length.
    func whole<Number: FixedWidthInteger>(
        _ binary: BSONBinary, _: Number.Type, _ name: String
    ) throws(StoreError) -> Number {
        let bytes = binary.storedBytes
        switch bytes.count {
        case 1: return Number(truncatingIfNeeded: Int8(bitPattern: bytes[0]))
        case 2: return Number(truncatingIfNeeded: Int16(truncatingIfNeeded: number(bytes)))
        case 4: return Number(truncatingIfNeeded: Int32(truncatingIfNeeded: number(bytes)))
        case 8 where Number.bitWidth == 64: return Number(truncatingIfNeeded: number(bytes))
        default: throw lengthFault(bytes.count, name)
        }
    }

    /// Converts a binary of 4 or 8 bytes to a double.
    ///
    /// - Throws: `conversionFailure` for another length.
    func double(_ binary: BSONBinary) throws(StoreError) -> Double {
        let bytes = binary.storedBytes
        switch bytes.count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: number(bytes))))
        case 8: return Double(bitPattern: number(bytes))
        default: throw lengthFault(bytes.count, "double")
        }
    }

    private var requiredFormat: Format {
        get throws(StoreError) {
            guard let format else {
                throw .location(
                    4_341_115,
                    "Format must be specified when converting between string and BinData")
            }
            return format
        }
    }

    private func fault(_ reason: String) -> StoreError {
        ExpressionConversion.failure(
            "Failed to convert in $convert with no onError value: \(reason)")
    }

    private func lengthFault(_ count: Int, _ name: String) -> StoreError {
        fault("a binary of \(count) bytes cannot become \(name)")
    }

    private func number(_ bytes: [UInt8]) -> UInt64 {
        let ordered = byteOrder == .big ? bytes : bytes.reversed()
        return ordered.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func binary(of number: some FixedWidthInteger) -> BSONBinary {
        let ordered = byteOrder == .big ? number.bigEndian : number.littleEndian
        return BSONBinary(withUnsafeBytes(of: ordered) { Array($0) }, subtype: subtype)
    }
}

extension BinaryConversion {
    private func bytes(of text: String, _ format: Format) throws(StoreError) -> [UInt8] {
        guard format != .auto, (format == .uuid) == (subtype == Self.uuidSubtype) else {
            throw fault("the format '\(format.rawValue)' does not fit subtype \(subtype)")
        }
        let utf8 = Array(text.utf8)
        let bytes: [UInt8]? =
            switch format {
            case .auto, .utf8: utf8
            case .base64: Self.bytes(ofBase64: utf8, isURL: false)
            case .base64url: Self.bytes(ofBase64: utf8, isURL: true)
            case .hex: Self.bytes(ofHexadecimal: utf8)
            case .uuid: Self.bytes(ofUUID: utf8)
            }
        guard let bytes else {
            throw fault("Input is not a valid \(format.rawValue) string: \(text.prefix(100))")
        }
        return bytes
    }

    private static func checked(
        _ count: Int, _ text: () -> String
    ) throws(StoreError) -> String {
        guard count < ExpressionLimits.textBytesMax else {
            throw ExpressionConversion.failure(
                "Resulting string exceeds maximum size (\(ExpressionLimits.textBytesMax) bytes)")
        }
        return text()
    }

    private static func hexadecimal(_ bytes: [UInt8], isUpper: Bool) -> [UInt8] {
        let digits = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }

    private static func bytes(ofHexadecimal digits: [UInt8]) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = ExtendedJSONCharacters.hexValue(digits[place]),
                let low = ExtendedJSONCharacters.hexValue(digits[place + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func bytes(ofUUID text: [UInt8]) -> [UInt8]? {
        let dash = UInt8(ascii: "-")
        guard text.count == 36, [8, 13, 18, 23].allSatisfy({ text[$0] == dash }) else {
            return nil
        }
        let digits = text.filter { $0 != dash }
        return digits.count == 32 ? bytes(ofHexadecimal: digits) : nil
    }

    private static func base64(_ bytes: [UInt8], isURL: Bool) -> String {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                + (isURL ? "-_" : "+/")).utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for place in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[place..<min(place + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | UInt32($1) }
            bits <<= 8 * UInt32(3 - group.count)
            for digit in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
            guard !isURL else { continue }
            for _ in group.count..<3 { text.append(UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of base64; padding is required, but may be left out in the form for URLs.
    private static func bytes(ofBase64 text: [UInt8], isURL: Bool) -> [UInt8]? {
        var digits = text[...]
        if digits.count.isMultiple(of: 4) {
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        } else if !isURL {
            return nil
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(ofBase64: digit, isURL: isURL) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    private static func value(ofBase64 digit: UInt8, isURL: Bool) -> UInt8? {
        guard isURL else { return ExtendedJSONCharacters.base64Value(digit) }
        switch digit {
        case UInt8(ascii: "-"): return 62
        case UInt8(ascii: "_"): return 63
        case UInt8(ascii: "+"), UInt8(ascii: "/"): return nil
        default: return ExtendedJSONCharacters.base64Value(digit)
        }
    }
}
