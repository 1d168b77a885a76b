internal import BSONStore

/// The stored form of a token that sets a new password once: its hash, and its end.
struct PasswordToken: Sendable, Hashable {
    /// The SHA-256 hash of the token's text.
    let hash: [UInt8]
    let expires: BSONDatetime
    /// When the user asked for the token; `nil` for one of an administrator.
    var requested: BSONDatetime?

    /// Creates a token, and returns its text, which is stored nowhere.
    static func make(until expires: BSONDatetime) -> (text: String, token: PasswordToken) {
        let text = ScramCredential.newSecret()
        return (text, PasswordToken(hash: hash(of: text), expires: expires))
    }

    private init(hash: [UInt8], expires: BSONDatetime) {
        self.hash = hash
        self.expires = expires
    }

    /// Reads a stored token; `nil` if invalid.
    init?(_ document: BSONDocument) {
        guard case .binary(let hash)? = document["hash"],
            case .datetime(let expires)? = document["expires"]
        else { return nil }
        self.init(hash: hash.bytes, expires: expires)
        if case .datetime(let requested)? = document["requested"] { self.requested = requested }
    }

    /// The form to store.
    var document: BSONDocument {
        var document: BSONDocument = [
            "hash": .binary(BSONBinary(hash)), "expires": .datetime(expires),
        ]
        if let requested { document.append("requested", .datetime(requested)) }
        return document
    }

    /// Whether a text is the token, which has not ended.
    func accepts(_ text: String, at time: BSONDatetime) -> Bool {
        let isSame = SHA256.areEqual(Self.hash(of: text), hash)
        return isSame && time.milliseconds < expires.milliseconds
    }

    private static func hash(of text: String) -> [UInt8] { SHA256.hash(Array(text.utf8)) }
}
