package import Foundation

/// Are keys of an identity provider, made by openssl for one test.
package struct TokenKeys: Sendable {
    /// The folder with `rsa.pem` and `ec.pem`, and with `foreign.pem`, which nobody knows.
    package let folder: URL

    /// The public keys as the server reads them.
    package var set: String { folder.appending(path: "keys.json").path }

    /// Makes keys in a folder.
    package static func make(in folder: URL) async throws -> TokenKeys {
        let keys = TokenKeys(folder: folder)
        try await keys.openssl("genrsa", "-out", "rsa.pem", "2048")
        try await keys.openssl("genrsa", "-out", "foreign.pem", "2048")
        try await keys.openssl("ecparam", "-name", "prime256v1", "-genkey", "-out", "ec.pem")
        let modulus = try await keys.openssl("rsa", "-in", "rsa.pem", "-noout", "-modulus")
        let digits = modulus.split(separator: "=").last.map(String.init) ?? ""
        let point = try await keys.openssl("ec", "-in", "ec.pem", "-text", "-noout")
        let bytes = Self.point(point)
        let set = """
            {"keys": [
                {"kty": "RSA", "kid": "rsa", "use": "sig", "e": "AQAB",
                 "n": "\(coded(Self.bytes(digits)))"},
                {"kty": "EC", "kid": "ec", "crv": "P-256", "alg": "ES256",
                 "x": "\(coded(Array(bytes.prefix(32))))", "y": "\(coded(Array(bytes.suffix(32))))"},
                {"kty": "oct", "kid": "secret", "k": "AAAA"}
            ]}
            """
        try Data(set.utf8).write(to: URL(filePath: keys.set))
        return keys
    }

    /// A token of ten minutes, signed with the RSA key.
    package func token(
        subject: String, issuer: String, audience: String, roles: [String]
    ) async throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let body: [String: Any] = [
            "sub": subject, "iss": issuer, "aud": audience, "iat": now, "exp": now + 600,
            "roles": roles,
        ]
        let head = Data(#"{"alg":"RS256","typ":"JWT","kid":"rsa"}"#.utf8)
        let claims = try JSONSerialization.data(withJSONObject: body)
        let signed = [head, claims].map { Self.coded([UInt8]($0)) }.joined(separator: ".")
        let (input, output) = ("claims-\(UUID())", "signature-\(UUID())")
        try Data(signed.utf8).write(to: folder.appending(path: input))
        try await openssl(
            "dgst", "-sha256", "-sign", "rsa.pem", "-out", folder.appending(path: output).path,
            folder.appending(path: input).path)
        let signature = try Data(contentsOf: folder.appending(path: output))
        return signed + "." + Self.coded([UInt8](signature))
    }

    @discardableResult
    private func openssl(_ arguments: String...) async throws -> String {
        let inFolder = arguments.map { $0.hasSuffix(".pem") ? folder.appending(path: $0).path : $0 }
        let answer = try await Program.run(
            URL(filePath: "/usr/bin/openssl"), inFolder, limit: .seconds(300))
        guard answer.code == 0 else { throw ProgramFailure(reason: answer.output) }
        return answer.output
    }

    /// The two coordinates of a public key as openssl prints it, behind the byte 4.
    private static func point(_ text: String) -> [UInt8] {
        guard let start = text.range(of: "pub:"), let end = text.range(of: "ASN1 OID") else {
            return []
        }
        return Array(bytes(String(text[start.upperBound..<end.lowerBound])).dropFirst())
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = digits.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] * 16 + digits[$0 + 1])
        }
    }

    private static func coded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
