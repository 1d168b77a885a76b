#if Remote
    internal import StitchSync

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The root certificates that an app trusts instead of the system's.
    struct TrustedRoots: Sendable {
        /// The certificates in the form DER; not empty.
        let certificates: [[UInt8]]

        /// Reads certificates in the form PEM; the result is `nil` where neither argument names any.
        ///
        /// - Throws: `RemoteError` of class `.rejected` for a file that cannot be read, and for a
        ///   text without a certificate.
        init?(file: String?, texts: [String]) throws(RemoteError) {
            guard file != nil || !texts.isEmpty else { return nil }
            var certificates: [[UInt8]] = []
            for (index, text) in texts.enumerated() {
                certificates += try Self.certificates(of: text, "trustedRoots[\(index)]")
            }
            if let file {
                certificates += try Self.certificates(of: Self.text(of: file), file)
            }
            self.certificates = certificates
        }

        /// The error for a certificate that is PEM, but not X.509.
        static func unreadable(_ number: Int, _ reason: String) -> RemoteError {
            RemoteError(
                .rejected, "the trusted certificate \(number + 1) cannot be read: \(reason)")
        }

        private static func text(of file: String) throws(RemoteError) -> String {
            do {
                // The comments between the certificates may be in any encoding.
                return String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            } catch {
                throw RemoteError(
                    .rejected,
                    "the trusted certificates of \(file) cannot be read: \(String(shortly: error))")
            }
        }

        /// Returns the certificates between the lines `BEGIN CERTIFICATE` and `END CERTIFICATE`.
        ///
        /// Source: RFC 7468, section 5. Text outside of these lines is a comment.
        private static func certificates(
            of text: String, _ name: String
        ) throws(RemoteError) -> [[UInt8]] {
            var certificates: [[UInt8]] = []
            var lines: [Substring]?
            for line in text.split(whereSeparator: \.isNewline) {
                if line.hasPrefix("-----BEGIN CERTIFICATE-----") {
                    lines = []
                } else if line.hasPrefix("-----END CERTIFICATE-----"), let encoded = lines {
                    let characters = encoded.joined().filter { !$0.isWhitespace }
                    guard let bytes = Data(base64Encoded: characters), !bytes.isEmpty else {
                        throw RemoteError(
                            .rejected,
                            "the trusted certificates of \(name) cannot be read as PEM: "
                                + "certificate \(certificates.count + 1) is not base64")
                    }
                    certificates.append(Array(bytes))
                    lines = nil
                } else {
                    lines?.append(line)
                }
            }
            guard lines == nil, !certificates.isEmpty else {
                throw RemoteError(
                    .rejected,
                    "the trusted certificates of \(name) cannot be read as PEM: "
                        + (lines == nil ? "there is no certificate" : "the last one has no end"))
            }
            return certificates
        }
    }
#endif
