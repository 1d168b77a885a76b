internal import BSONStore

/// Is a JSON Web Token, whose signature nobody has looked at yet.
///
/// Source: RFC 7515 and RFC 7519.
struct WebToken: Sendable {
    /// So many bytes a token has at most.
    static let bytesMax = 16 * 1024
    /// Clocks may differ by so many seconds.
    static let leeway: Double = 30

    /// How it is signed.
    let algorithm: WebKey.Algorithm
    /// Which key it is signed with; without one, any of the kind.
    let keyID: String?
    /// What it says about its bearer.
    let claims: BSONDocument
    /// The bytes that are signed.
    let signed: [UInt8]
    let signature: [UInt8]

    /// Reads a token; `nil` for what is none, or is signed in a way that is not taken.
    init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.document(parts[0]),
            let claims = Self.document(parts[1]), let signature = Self.bytes(parts[2]),
            let algorithm = header["alg"]?.stringValue.flatMap(WebKey.Algorithm.init),
            header["crit"] == nil
        else { return nil }
        self.algorithm = algorithm
        keyID = header["kid"]?.stringValue
        self.claims = claims
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether a key has signed it.
    func isSigned(by keys: [WebKey]) -> Bool {
        keys.contains { key in
            key.algorithms.contains(algorithm) && (keyID == nil || key.id == keyID)
                && key.verifies(signature, of: signed, algorithm)
        }
    }

    /// When it ends, in seconds since 1970.
    var expiry: Double? { Self.number(claims["exp"]) }

    private static func number(_ value: BSONValue?) -> Double? {
        switch value {
        case .double(let number): number
        case .int32(let number): Double(number)
        case .int64(let number): Double(number)
        default: nil
        }
    }

    /// Whether it holds now, and was meant for this server.
    func isMeant(_ settings: TokenSettings, now: Double) -> Bool {
        guard let expiry, expiry + Self.leeway > now else { return false }
        for name in ["nbf", "iat"] where claims[name] != nil {
            guard let time = Self.number(claims[name]), time - Self.leeway <= now else {
                return false
            }
        }
        if let issuer = settings.issuer, claims["iss"]?.stringValue != issuer { return false }
        guard let audience = settings.audience else { return true }
        let audiences = claims["aud"]?.arrayValue?.compactMap(\.stringValue)
        return (audiences ?? [claims["aud"]?.stringValue ?? ""]).contains(audience)
    }

    /// The roles that it gives; what is no role gives none.
    func roles(_ claim: String) -> [Role] {
        (claims[claim]?.arrayValue ?? []).compactMap { value in
            if let role = value.documentValue, let name = role["role"]?.stringValue,
                let database = role["db"]?.stringValue
            {
                return Role(known: name, on: database)
            }
            let parts = (value.stringValue ?? "").split(separator: "@", maxSplits: 1)
            guard let name = parts.first else { return nil }
            return Role(known: String(name), on: parts.count > 1 ? String(parts[1]) : "admin")
        }
    }

    private static func document(_ part: Substring) -> BSONDocument? {
        guard let bytes = bytes(part) else { return nil }
        return JSONText.document(bytes)
    }

    static func bytes(_ part: some StringProtocol) -> [UInt8]? {
        guard !part.utf8.contains(UInt8(ascii: "=")) else { return nil }
        var text = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return ScramCredential.bytes(text)
    }
}

/// Reads plain JSON.
enum JSONText {
    /// The document; `nil` for what is none.
    static func document(_ bytes: [UInt8]) -> BSONDocument? {
        do {
            return try bytes.withUnsafeBytes { try BSONDocument(extendedJSONBytes: $0) }
        } catch {
            return nil
        }
    }
}
