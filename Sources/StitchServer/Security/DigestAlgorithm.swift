#if Server
    internal import BSONStore
    internal import StitchCryptoC
#endif

/// A hash algorithm of OpenSSL.
enum DigestAlgorithm: String, Sendable {
    case md5 = "MD5"
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"

    /// The error for an algorithm that OpenSSL does not offer, since a system may allow only some.
    var missing: CommandFailure { CommandFailure(1, "OpenSSL does not offer \(rawValue) here") }
}

#if Server
    extension DigestAlgorithm {
        var type: OpaquePointer? {
            switch self {
            case .md5: EVP_md5()
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }

        /// Returns the hash of bytes.
        func sum(_ bytes: [UInt8]) throws(CommandFailure) -> [UInt8] {
            try filling { EVP_Digest(bytes, bytes.count, $0, &$1, type, nil) == 1 }
        }

        /// Returns the HMAC of bytes.
        ///
        /// Source: RFC 2104.
        func code(_ bytes: [UInt8], key: [UInt8]) throws(CommandFailure) -> [UInt8] {
            try filling {
                HMAC(type, key, Int32(key.count), bytes, bytes.count, $0, &$1) != nil
            }
        }

        /// Returns a key derived from a secret (PBKDF2), as long as a hash.
        ///
        /// Source: RFC 8018, section 5.2.
        func derivedKey(
            _ secret: [UInt8], salt: [UInt8], iterations: Int
        ) throws(CommandFailure) -> [UInt8] {
            let text = secret.map { CChar(bitPattern: $0) }
            return try filling {
                $1 = UInt32(clamping: EVP_MD_get_size(type))
                return PKCS5_PBKDF2_HMAC(
                    text, Int32(text.count), salt, Int32(salt.count),
                    Int32(clamping: iterations), type, Int32($1), $0) == 1
            }
        }

        private func filling(
            _ body: (UnsafeMutablePointer<UInt8>, inout UInt32) -> Bool
        ) throws(CommandFailure) -> [UInt8] {
            var count: UInt32 = 0
            var isFilled = false
            let room = Int(EVP_MAX_MD_SIZE)
            let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                guard let start = buffer.baseAddress else { return }
                isFilled = body(start, &count)
                filled = isFilled ? Int(count) : 0
            }
            guard isFilled else { throw missing }
            return bytes
        }
    }

    /// A hash over bytes that arrive in parts.
    final class RunningDigest {
        private let algorithm: DigestAlgorithm
        private let context = EVP_MD_CTX_new()

        init(_ algorithm: DigestAlgorithm) throws(CommandFailure) {
            self.algorithm = algorithm
            guard EVP_DigestInit_ex(context, algorithm.type, nil) == 1 else {
                throw algorithm.missing
            }
        }

        deinit { EVP_MD_CTX_free(context) }

        func add(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
            guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
                throw algorithm.missing
            }
        }

        /// Returns the hash; no bytes may be added afterwards.
        func sum() throws(CommandFailure) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { throw algorithm.missing }
            return Array(bytes.prefix(Int(count)))
        }
    }
#else
    // Without the trait there is no server, so nothing needs hashes.
    extension DigestAlgorithm {
        func sum(_ bytes: [UInt8]) throws(CommandFailure) -> [UInt8] { throw missing }

        func code(_ bytes: [UInt8], key: [UInt8]) throws(CommandFailure) -> [UInt8] {
            throw missing
        }

        func derivedKey(
            _ secret: [UInt8], salt: [UInt8], iterations: Int
        ) throws(CommandFailure) -> [UInt8] { throw missing }
    }

    final class RunningDigest {
        private let algorithm: DigestAlgorithm

        init(_ algorithm: DigestAlgorithm) throws(CommandFailure) { self.algorithm = algorithm }

        func add(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
            throw algorithm.missing
        }

        func sum() throws(CommandFailure) -> [UInt8] { throw algorithm.missing }
    }
#endif

extension [UInt8] {
    /// The bytes as hexadecimal digits.
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
