internal import Foundation

/// A certificate for `localhost` that signs itself, made by openssl for one test.
package struct Certificate: Sendable {
    /// The file of the certificate.
    package let chain: String
    /// The file of its private key.
    package let key: String

    /// Makes a certificate, lends it, and removes it.
    package static func lend<R>(_ body: (Certificate) async throws -> R) async throws -> R {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "stitchserve-tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let certificate = Certificate(
            chain: folder.appending(path: "chain.pem").path,
            key: folder.appending(path: "key.pem").path)
        let made = try await Program.run(
            URL(filePath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                certificate.key, "-out", certificate.chain,
            ], limit: .seconds(300))
        guard made.code == 0 else { throw ProgramFailure(reason: made.output) }
        let result: Result<R, any Error>
        do { result = .success(try await body(certificate)) } catch { result = .failure(error) }
        try FileManager.default.removeItem(at: folder)
        return try result.get()
    }
}
