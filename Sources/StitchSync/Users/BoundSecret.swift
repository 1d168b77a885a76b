internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The secret by which a user last signed in at the remote, kept as a salted slow hash.
///
/// It keeps others from opening the user's store through the app. It does not encrypt the store.
struct BoundSecret {
    /// The path of the file that holds the hash.
    let path: String

    /// The number of rounds: about a tenth of a second.
    private static let rounds: Int32 = 100_000
    /// The greatest number of rounds that a file may ask for.
    private static let roundsMax: Int32 = 10_000_000
    private static let saltBytes = 16

    /// Whether there is a secret.
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Stores the hash of a secret in place of an earlier one.
    ///
    /// - Throws: errors of the file system.
    func bind(_ secret: String) throws {
        let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: .min ... .max) }
        let hash = SHA256.derivedKey(of: Array(secret.utf8), salt: salt, rounds: Self.rounds)
        let document: BSONDocument = [
            "salt": .binary(BSONBinary(salt)), "rounds": .int32(Self.rounds),
            "hash": .binary(BSONBinary(hash)),
        ]
        try Data(document.bytes).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Compares a secret with the stored one.
    ///
    /// - Throws: `SyncError` of code `.wrongSecret` for another secret and for none; of code
    ///   `.storeFailed` for a damaged file; errors of the file system.
    func check(_ secret: String?) throws {
        guard exists else { return }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let kept: BSONDocument
        do throws(BSONError) {
            kept = try BSONDocument(validating: bytes)
        } catch {
            throw Self.damaged
        }
        guard let salt = kept["salt"]?.binaryValue?.bytes,
            let hash = kept["hash"]?.binaryValue?.bytes,
            let rounds = kept["rounds"]?.int32Value, (1...Self.roundsMax).contains(rounds)
        else { throw Self.damaged }
        guard let secret else {
            throw SyncError(.wrongSecret, "the user's store opens with the user's secret only")
        }
        let found = SHA256.derivedKey(of: Array(secret.utf8), salt: Array(salt), rounds: rounds)
        guard SHA256.areEqual(found, Array(hash)) else {
            throw SyncError(
                .wrongSecret,
                "this is not the secret of the user's last sign-in; a new one has to be accepted by "
                    + "the remote first")
        }
    }

    private static var damaged: SyncError {
        SyncError(.storeFailed, "the file of the user's secret is damaged; sign in online")
    }
}
