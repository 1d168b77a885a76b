#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import NIOSSL
    internal import StitchSync

    /// The encryption of connections (TLS), which verifies the server's certificate and its name.
    struct TransportSecurity: Sendable {
        private let context: NIOSSLContext

        /// - Parameters:
        ///   - file: a PEM file of trusted root certificates; `nil` for the system's, or `roots`.
        ///   - roots: trusted root certificates in the form PEM.
        /// - Throws: `RemoteError` of class `.rejected` for certificates that cannot be read.
        init(rootsFile file: String?, roots: [String]) throws(RemoteError) {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.certificateVerification = .fullVerification
            do {
                var certificates: [NIOSSLCertificate] = []
                for root in roots {
                    certificates += try NIOSSLCertificate.fromPEMBytes(Array(root.utf8))
                }
                if let file { certificates += try NIOSSLCertificate.fromPEMFile(file) }
                if file != nil || !roots.isEmpty {
                    guard !certificates.isEmpty else {
                        throw RemoteError(.rejected, "the trusted certificates are empty")
                    }
                    configuration.trustRoots = .certificates(certificates)
                }
                context = try NIOSSLContext(configuration: configuration)
            } catch {
                throw error as? RemoteError
                    ?? RemoteError(
                        .rejected,
                        "the trusted certificates\(file.map { " of \($0)" } ?? "") cannot be "
                            + "read as PEM: \(String(shortly: error))")
            }
        }

        /// Returns the handler of one connection.
        ///
        /// The name of an IP address is in no handshake; the certificate must hold the address.
        func handler(for address: ServerAddress) throws -> NIOSSLClientHandler {
            let isAddress: Bool
            do {
                _ = try SocketAddress(ipAddress: address.host, port: address.port)
                isAddress = true
            } catch {
                isAddress = false
            }
            return try NIOSSLClientHandler(
                context: context, serverHostname: isAddress ? nil : address.host)
        }
    }
#endif
