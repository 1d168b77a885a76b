#if Remote
    internal import BSONStore

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension Handshake {
        /// Returns the claim `sub` of a JSON Web Token, whose signature the server checks.
        ///
        /// Source: RFC 7519, section 4.1.2.
        static func subject(of token: String) -> String? {
            let parts = token.dottedParts
            guard parts.count == 3 else { return nil }
            var text = String(
                parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            guard let claims = Data(base64Encoded: text) else { return nil }
            do {
                return try JSONDecoder().decode(Claims.self, from: claims).sub
            } catch {
                return nil
            }
        }

        private struct Claims: Decodable { let sub: String }
    }
#endif
