internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The stored form of a password: enough to check a proof, not to create one.
struct ScramCredential: Sendable, Hashable {
    let mechanism: ScramMechanism
    let iterations: Int
    let salt: [UInt8]
    let storedKey: [UInt8]
    let serverKey: [UInt8]

    /// Derives the keys of a password with a new salt.
    init(_ mechanism: ScramMechanism, user: String, password: String) throws(CommandFailure) {
        self.mechanism = mechanism
        iterations = mechanism.iterations
        salt = Self.random(mechanism.saltCount)
        let salted = try mechanism.saltedPassword(
            mechanism.secret(user: user, password: password), salt: salt,
            iterations: iterations)
        storedKey = try mechanism.hash(
            mechanism.sign(Array("Client Key".utf8), with: salted))
        serverKey = try mechanism.sign(Array("Server Key".utf8), with: salted)
    }

    /// Creates the credential of a user who does not exist: always the same salt, and keys that
    /// match no password.
    ///
    /// A client cannot tell it from a real one.
    init(
        _ mechanism: ScramMechanism, standingFor user: String, secret: [UInt8]
    ) throws(CommandFailure) {
        self.mechanism = mechanism
        iterations = mechanism.iterations
        salt = Array(
            try ScramMechanism.sha256.sign(Array(user.utf8), with: secret)
                .prefix(mechanism.saltCount))
        // As long as a real one, so that a proof is compared as far.
        let key = try mechanism.hash(salt)
        storedKey = Self.random(key.count)
        serverKey = Self.random(key.count)
    }

    /// Returns the stored key that a password leads to with this salt.
    func storedKey(user: String, password: String) throws -> [UInt8] {
        let salted = try mechanism.saltedPassword(
            mechanism.secret(user: user, password: password), salt: salt, iterations: iterations)
        return try mechanism.hash(mechanism.sign(Array("Client Key".utf8), with: salted))
    }

    /// The credential in the form of `system.users`.
    var document: BSONDocument {
        [
            "iterationCount": .int32(Int32(clamping: iterations)),
            "salt": .string(Self.text(salt)), "storedKey": .string(Self.text(storedKey)),
            "serverKey": .string(Self.text(serverKey)),
        ]
    }

    /// Reads a stored credential; `nil` if invalid.
    init?(_ mechanism: ScramMechanism, _ document: BSONDocument) {
        guard let iterations = document["iterationCount"]?.wholeNumber, iterations > 0,
            let salt = Self.bytes(document["salt"]),
            let storedKey = Self.bytes(document["storedKey"]),
            let serverKey = Self.bytes(document["serverKey"])
        else { return nil }
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.storedKey = storedKey
        self.serverKey = serverKey
    }

    /// Returns a secret of 32 random bytes as a text without characters that URLs or cookies escape.
    static func newSecret() -> String {
        text(random(32)).replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        // Each number is a call of the system.
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }

    static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    static func bytes(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text).map { Array($0) }
    }

    private static func bytes(_ value: BSONValue?) -> [UInt8]? {
        value?.stringValue.flatMap { bytes($0) }
    }
}
