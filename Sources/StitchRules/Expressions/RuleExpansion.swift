internal import BSONStore

/// A reference to a value that depends on the user.
struct RuleExpansion: Sendable, Hashable {
    /// The source of the value.
    enum Root: String, Sendable, Hashable {
        case user, values, environment
        case isTrue = "true"
        case isFalse = "false"
    }

    let root: Root
    /// The names after the root.
    let path: [Name]

    /// Returns the value; `nil` when missing, and then no condition that needs it is satisfied.
    func value(_ user: RuleUser, _ constants: RuleConstants) -> BSONValue? {
        switch root {
        case .isTrue: .bool(true)
        case .isFalse: .bool(false)
        case .user: user.value(path.map(\.text))
        case .values:
            path.reduce(.document(constants.values)) { RuleUser.step(from: $0, by: $1.text) }
        case .environment:
            path.reduce(
                .document([
                    "tag": .string(constants.environmentTag),
                    "values": .document(constants.environmentValues),
                ])
            ) { RuleUser.step(from: $0, by: $1.text) }
        }
    }
}

/// The meaning of a string that begins with `%%`.
enum RuleReference: Sendable, Hashable {
    /// A value that depends on the user.
    case expansion(RuleExpansion)
    /// A field of the document to read, or after the write; empty for the whole document.
    case root(Name)
    /// A field of the document before the write.
    case previous(Name)

    /// Parses a string that begins with `%%`.
    init(_ text: String, at place: RuleSourceLocation) throws(RuleError) {
        let parts = text.droppingBytes(2).dottedParts
        guard let first = parts.first, !parts.contains("") else {
            throw place.error(.unsupportedExpansion, "\(text) names nothing")
        }
        let rest = Array(parts.dropFirst())
        switch first {
        case "root": self = .root(Name(rest.joined(separator: ".")))
        case "prevRoot": self = .previous(Name(rest.joined(separator: ".")))
        case "this", "prev":
            throw place.error(
                .unsupportedExpansion,
                "%%\(first) depends on the value of a field; permissions of fields must be decided "
                    + "by the user alone")
        case "request", "partition", "function", "args":
            throw place.error(
                .unsupportedExpansion, "%%\(first) belongs to the hosted product and has no value")
        default:
            self = .expansion(try Self.expansion(first, rest, text, place))
        }
    }

    private static func expansion(
        _ first: String, _ rest: [String], _ text: String, _ place: RuleSourceLocation
    ) throws(RuleError) -> RuleExpansion {
        guard let root = RuleExpansion.Root(rawValue: first) else {
            throw place.error(.unsupportedExpansion, "There is no expansion \(text)")
        }
        let isFine: Bool =
            switch root {
            case .isTrue, .isFalse: rest.isEmpty
            case .user: rest.first.map { RuleUser.names.contains($0) } ?? true
            case .values: true
            case .environment: rest.first.map { ["tag", "values"].contains($0) } ?? true
            }
        guard isFine else {
            throw place.error(.unsupportedExpansion, "There is no expansion \(text)")
        }
        return RuleExpansion(root: root, path: rest.map { Name($0) })
    }
}

/// A conversion of a value to another type, as in `{"%stringToOid": "%%user.id"}`.
enum RuleConversion: String, Sendable, Hashable, CaseIterable {
    case stringToOid = "%stringToOid"
    case oidToString = "%oidToString"
    case stringToUuid = "%stringToUuid"
    case uuidToString = "%uuidToString"

    /// The reverse conversion.
    var inverse: RuleConversion {
        switch self {
        case .stringToOid: .oidToString
        case .oidToString: .stringToOid
        case .stringToUuid: .uuidToString
        case .uuidToString: .stringToUuid
        }
    }

    /// Returns the converted value; `nil` when it cannot be converted.
    func convert(_ value: BSONValue) -> BSONValue? {
        switch self {
        case .stringToOid:
            guard let text = value.stringValue else { return nil }
            do { return .objectID(try BSONObjectID(text)) } catch { return nil }
        case .oidToString: return value.objectIDValue.map { .string($0.description) }
        case .stringToUuid: return value.stringValue.flatMap(Self.uuid)
        case .uuidToString:
            guard case .binary(let binary) = value, binary.subtype == 4, binary.bytes.count == 16
            else { return nil }
            return .string(Self.text(ofUUID: binary.bytes))
        }
    }

    private static func uuid(_ text: String) -> BSONValue? {
        let groups = text.split(atByte: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = groups.joined().utf8.map { byte -> UInt8? in
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x41 + 10
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes.count == 16 ? .some(.binary(BSONBinary(bytes, subtype: 4))) : .none
    }

    private static func text(ofUUID bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}
