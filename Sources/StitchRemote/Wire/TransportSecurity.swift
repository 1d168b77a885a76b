#if Remote && !canImport(Network)
    internal import BSONStore
    internal import NIOCore
    internal import NIOSSL
    internal import StitchSync

    /// The encryption of connections (TLS), which verifies the server's certificate and its name.
    ///
    /// On Apple's platforms it is Network.framework's (`TransportSecurity+Network.swift`).
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
            if let roots = try TrustedRoots(file: file, texts: roots) {
                configuration.trustRoots = .certificates(try Self.certificates(roots))
            }
            do {
                context = try NIOSSLContext(configuration: configuration)
            } catch {
                throw RemoteError(.rejected, "TLS cannot be set up: \(String(shortly: error))")
            }
        }

        private static func certificates(
            _ roots: TrustedRoots
        ) throws(RemoteError) -> [NIOSSLCertificate] {
            var certificates: [NIOSSLCertificate] = []
            for (index, bytes) in roots.certificates.enumerated() {
                do {
                    certificates.append(try NIOSSLCertificate(bytes: bytes, format: .der))
                } catch {
                    throw TrustedRoots.unreadable(index, String(shortly: error))
                }
            }
            return certificates
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
