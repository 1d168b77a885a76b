#if Server
    internal import BSONStore
    internal import StitchCryptoC

    /// A public key that checks signatures, by OpenSSL.
    struct PublicKey: ~Copyable {
        private let key: OpaquePointer

        /// Creates an RSA key from its big-endian numbers; `nil` for an invalid key.
        init?(rsaModulus modulus: [UInt8], exponent: [UInt8]) {
            guard
                let key = StitchRSAPublicKey(
                    modulus, Int32(modulus.count), exponent, Int32(exponent.count))
            else { return nil }
            self.key = key
        }

        /// Creates an elliptic-curve key from an uncompressed point; `nil` if the point is not on
        /// the curve.
        init?(curve: String, point: [UInt8]) {
            guard let key = StitchECPublicKey(curve, point, point.count) else { return nil }
            self.key = key
        }

        /// Creates an Ed25519 key.
        init?(ed25519 bytes: [UInt8]) {
            guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
            else { return nil }
            self.key = key
        }

        deinit { EVP_PKEY_free(key) }

        /// Whether a signature of bytes was made by the key's owner.
        ///
        /// - Parameters:
        ///   - digest: the hash of the signature scheme; `nil` where the scheme hashes by itself.
        ///   - isPSS: whether an RSA signature uses PSS padding (RFC 8017, section 8.1), with a
        ///     salt as long as the hash.
        func verifies(
            _ signature: [UInt8], of signed: [UInt8], _ digest: DigestAlgorithm?,
            isPSS: Bool = false
        ) -> Bool {
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var settings: OpaquePointer?
            guard EVP_DigestVerifyInit(context, &settings, digest?.type, nil, key) == 1 else {
                return false
            }
            if isPSS {
                guard EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
                    EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1
                else { return false }
            }
            return EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
        }

        /// Converts a signature of two equally long numbers to the form that OpenSSL reads; `nil`
        /// if invalid.
        ///
        /// Source: RFC 7518, section 3.4; RFC 3279, section 2.2.3.
        static func ecdsaSignature(_ raw: [UInt8], count: Int) -> [UInt8]? {
            guard raw.count == 2 * count else { return nil }
            let pair = ECDSA_SIG_new()
            defer { ECDSA_SIG_free(pair) }
            let r = BN_bin2bn(Array(raw[..<count]), Int32(count), nil)
            let s = BN_bin2bn(Array(raw[count...]), Int32(count), nil)
            guard ECDSA_SIG_set0(pair, r, s) == 1 else {
                BN_free(r)
                BN_free(s)
                return nil
            }
            let size = i2d_ECDSA_SIG(pair, nil)
            guard size > 0 else { return nil }
            return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, filled in
                var end = buffer.baseAddress
                filled = Int(max(0, i2d_ECDSA_SIG(pair, &end)))
            }
        }
    }
#endif
