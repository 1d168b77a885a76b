internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An address of public keys.
package struct KeyAddress: Sendable, Hashable {
    /// The address as it was given.
    package let text: String
    /// Whether the connection is encrypted.
    let isSecure: Bool
    /// The name or address of the host, without brackets.
    let host: String
    let port: Int
    /// The path with the query.
    let target: String
    /// The file of the certificate authorities to trust; `nil` for those of the system.
    let authorities: String?

    /// Parses an address; `nil` for one that is neither encrypted nor on this machine.
    init?(_ text: String, authorities: String? = nil) {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            var host = url.host(percentEncoded: false), !host.isEmpty,
            url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil
        else { return nil }
        if host.hasBytePrefix("["), host.utf8.last == UInt8(ascii: "]") {
            host = String(host.dropFirst().dropLast())
        }
        guard !host.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else { return nil }
        let isLocal = host == "localhost" || host == "::1" || Self.isLoopback(host)
        guard scheme == "https" || scheme == "http" && isLocal else { return nil }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let target = (path.isEmpty ? "/" : path) + query
        guard !target.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else { return nil }
        self.text = text
        isSecure = scheme == "https"
        self.host = host
        port = url.port ?? (isSecure ? 443 : 80)
        self.target = target
        self.authorities = authorities
    }

    /// Whether a host is an IPv4 address of this machine: `127.evil.example` is none.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                (1...3).contains(part.utf8.count)
                    && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
