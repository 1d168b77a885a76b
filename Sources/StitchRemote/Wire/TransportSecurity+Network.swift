#if Remote && canImport(Network)
    internal import BSONStore
    internal import Dispatch
    internal import Foundation
    internal import Network
    internal import Security
    internal import StitchSync

    /// The encryption of connections by Network.framework, which verifies the server's certificate and
    /// its name.
    struct TransportSecurity: Sendable {
        private let roots: TrustedRoots?

        /// - Parameters:
        ///   - file: a PEM file of trusted root certificates; `nil` for the system's, or `roots`.
        ///   - roots: trusted root certificates in the form PEM.
        /// - Throws: `RemoteError` of class `.rejected` for certificates that cannot be read.
        init(rootsFile file: String?, roots: [String]) throws(RemoteError) {
            self.roots = try TrustedRoots(file: file, texts: roots)
            for (index, bytes) in (self.roots?.certificates ?? []).enumerated() {
                guard Self.certificate(bytes) != nil else {
                    throw TrustedRoots.unreadable(index, "it is not an X.509 certificate")
                }
            }
        }

        /// Returns the options of one connection.
        func options(for address: ServerAddress) -> NWProtocolTLS.Options {
            let options = NWProtocolTLS.Options()
            let settings = options.securityProtocolOptions
            sec_protocol_options_set_min_tls_protocol_version(settings, .TLSv12)
            guard let roots else { return options }
            let host = address.host
            sec_protocol_options_set_verify_block(
                settings,
                { _, trust, answer in
                    let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                    answer(Self.verify(trust, host, roots))
                },
                .global())
            return options
        }

        /// Checks a server's certificate by the given roots only, and its name or IP address.
        private static func verify(_ trust: SecTrust, _ host: String, _ roots: TrustedRoots) -> Bool
        {
            let anchors = roots.certificates.compactMap(certificate)
            return SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString))
                == errSecSuccess
                && SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess
                && SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
                && SecTrustEvaluateWithError(trust, nil)
        }

        private static func certificate(_ bytes: [UInt8]) -> SecCertificate? {
            SecCertificateCreateWithData(nil, Data(bytes) as CFData)
        }
    }
#endif
