internal import BSONCoreC

/// The slow hash of a secret, by which a later copy of the secret is recognised.
package enum SlowHash {
    /// Returns 32 bytes that PBKDF2 with HMAC-SHA-256 derives from a secret.
    ///
    /// Source: RFC 8018, section 5.2.
    package static func bytes(of secret: [UInt8], salt: [UInt8], rounds: Int32) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        hash.withUnsafeMutableBufferPointer { hash in
            secret.withUnsafeBufferPointer { secret in
                salt.withUnsafeBufferPointer { salt in
                    bsonstore_pbkdf2_sha256(
                        secret.baseAddress, secret.count, salt.baseAddress, salt.count, rounds,
                        hash.baseAddress)
                }
            }
        }
        return hash
    }
}
