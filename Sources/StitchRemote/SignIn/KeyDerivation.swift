#if Remote
    internal import Crypto

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Functions of SHA-256 that SCRAM is made of.
    ///
    /// Source: RFC 2104, RFC 8018 (section 5.2).
    enum KeyDerivation {
        /// Returns the hash of bytes.
        static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

        /// Returns the authentication code (HMAC) of bytes.
        static func code(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        }

        /// Returns the first block of PBKDF2 with HMAC-SHA-256, which is a key of 32 bytes.
        ///
        /// It takes a time that grows with the iterations, so run it on a thread of its own.
        static func pbkdf2(_ secret: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
            // The state behind the key is the same in each iteration.
            let keyed = HMAC<SHA256>(key: SymmetricKey(data: secret))
            var round = code(salt + [0, 0, 0, 1], keyed)
            var sum = round
            for _ in 1..<max(1, iterations) {
                round = code(round, keyed)
                for index in sum.indices { sum[index] ^= round[index] }
            }
            return sum
        }

        private static func code(_ bytes: [UInt8], _ keyed: HMAC<SHA256>) -> [UInt8] {
            var next = keyed
            next.update(data: bytes)
            return Array(next.finalize())
        }

        /// Whether bytes are equal, in a time that does not depend on where they differ.
        static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
            left.count == right.count
                && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }
#endif
