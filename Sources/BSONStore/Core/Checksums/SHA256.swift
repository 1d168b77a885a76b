internal import BSONCoreC

/// SHA-256 and what SCRAM and a store's secret make of it: codes of a key, and keys of a password.
///
/// So an app that embeds the library needs no cryptographic library, and BoringSSL is compiled for TLS
/// only.
package enum SHA256 {
    /// Returns the hash of bytes, 32 bytes long.
    ///
    /// Source: FIPS 180-4.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        result { hash in
            bytes.withUnsafeBufferPointer {
                bsonstore_sha256($0.baseAddress, $0.count, hash)
            }
        }
    }

    /// The hash of bytes that come one after the other.
    package struct Digest: Sendable {
        private var digest = bsonstore_digest()

        package init() { bsonstore_digest_begin(&digest) }

        package mutating func add(_ bytes: [UInt8]) {
            bytes.withUnsafeBufferPointer {
                bsonstore_digest_add(&digest, $0.baseAddress, $0.count)
            }
        }

        /// The hash of the bytes so far, 32 bytes long.
        package var hash: [UInt8] {
            var rest = digest
            return SHA256.result { bsonstore_digest_finish(&rest, $0) }
        }
    }

    /// Returns the authentication code (HMAC) of bytes, 32 bytes long.
    ///
    /// Source: RFC 2104.
    package static func code(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        result { code in
            key.withUnsafeBufferPointer { key in
                bytes.withUnsafeBufferPointer {
                    bsonstore_hmac_sha256(
                        key.baseAddress, key.count, $0.baseAddress, $0.count, code)
                }
            }
        }
    }

    /// Returns a key of 32 bytes that PBKDF2 derives from a secret, by which a later copy of the secret
    /// is recognised.
    ///
    /// - Parameter rounds: the number of iterations, at least 1. Each takes about a microsecond in an
    ///   optimised build, so run many on a thread that may wait.
    ///
    /// Source: RFC 8018, section 5.2.
    package static func derivedKey(
        of secret: [UInt8], salt: [UInt8], rounds: Int32
    ) -> [UInt8] {
        result { key in
            secret.withUnsafeBufferPointer { secret in
                salt.withUnsafeBufferPointer { salt in
                    bsonstore_pbkdf2_sha256(
                        secret.baseAddress, secret.count, salt.baseAddress, salt.count,
                        max(1, rounds), key)
                }
            }
        }
    }

    /// Whether bytes are equal, in a time that does not depend on where they differ.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count
            && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func result(_ body: (UnsafeMutablePointer<UInt8>?) -> Void) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes.withUnsafeMutableBufferPointer { body($0.baseAddress) }
        return bytes
    }
}
