internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An identity provider whose tokens a server accepts.
package struct TokenProvider: Sendable, Hashable {
    /// The place of a provider's public keys, a JSON Web Key Set.
    package enum Keys: Sendable, Hashable {
        /// A file, read at each sign-in, so that keys can be changed while the server runs.
        case file(String)
        /// An address from which the server fetches the keys.
        case address(KeyAddress)
    }

    /// The name in ids and in the log; `nil` for the provider of `--jwks`.
    package var name: String?
    /// The issuer that tokens must name.
    package var issuer: String
    /// The audiences of which tokens must have one.
    package var audiences: [String]
    /// The place of the public keys.
    package var keys: Keys
    /// The claim with the roles: strings such as `readWrite@shop`, or documents with `role` and
    /// `db`; `nil` if tokens give no roles.
    package var rolesClaim: String?
    /// The claims that become fields of the user's custom data.
    package var customData: [ClaimMapping] = []
    /// The accepted signature algorithms.
    var algorithms = Set(WebKey.Algorithm.allCases)

    /// A claim that becomes a field of the user's custom data.
    package struct ClaimMapping: Sendable, Hashable {
        let claim: String
        let field: String
    }

    /// The largest file that describes a provider, in bytes.
    private static let fileBytesMax = 64 * 1_024
    private static let fields: Set<Name> = [
        "name", "issuer", "audience", "keys", "ca_file", "roles_claim", "custom_data", "algorithms",
    ]

    /// Creates a provider without a name.
    package init(
        keysFile: String, issuer: String, audience: String, rolesClaim: String = "roles"
    ) {
        keys = .file(keysFile)
        self.issuer = issuer
        audiences = [audience]
        self.rolesClaim = rolesClaim
    }

    /// Reads the description of a provider, a JSON document.
    ///
    /// - Throws: `UnsafeSettings` for a missing or invalid field, and the error of a file that cannot
    ///   be read.
    package init(file path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        func refused(_ reason: String) -> UnsafeSettings {
            UnsafeSettings(description: "cannot use the token provider \(path): \(reason)")
        }
        guard data.count <= Self.fileBytesMax, let document = JSONText.document(Array(data)) else {
            throw refused("the file is not a JSON document of at most \(Self.fileBytesMax) bytes")
        }
        for field in document.keys where !Self.fields.contains(Name(field)) {
            throw refused(
                "it has no field \(field); its fields are \(Self.fieldList)")
        }
        func text(_ field: String) throws -> String? {
            guard let value = document[field] else { return nil }
            guard let text = value.stringValue, !text.isEmpty else {
                throw refused("\(field) is not a text")
            }
            return text
        }
        guard let name = try text("name"), Self.isValid(name: name) else {
            throw refused(
                "add \"name\": 1 to 32 of the letters a to z, digits and -, different for each "
                    + "provider")
        }
        guard let issuer = try text("issuer") else {
            throw refused("add \"issuer\", the text that the claim iss of its tokens must have")
        }
        let audiences =
            document["audience"]?.arrayValue?.values.map(\.stringValue)
            ?? [document["audience"]?.stringValue]
        guard !audiences.isEmpty, audiences.allSatisfy({ $0?.isEmpty == false }) else {
            throw refused(
                "add \"audience\", a text or a list of texts, of which the claim aud of its tokens "
                    + "must have one")
        }
        guard let place = try text("keys") else {
            throw refused("add \"keys\", a file with a JSON Web Key Set, or the URL of one")
        }
        self.name = name
        self.issuer = issuer
        self.audiences = audiences.compactMap { $0 }
        let authorities = try text("ca_file")
        if place.utf8.contains(UInt8(ascii: ":")) {
            guard let address = KeyAddress(place, authorities: authorities) else {
                throw refused(
                    "\(place) is not a URL that begins with https:// and names no user (http:// is "
                        + "for this machine only)")
            }
            keys = .address(address)
        } else {
            keys = .file(place)
        }
        rolesClaim = try text("roles_claim")
        if let value = document["custom_data"] {
            guard let map = value.documentValue else {
                throw refused("custom_data is not a document of claims and fields")
            }
            for (claim, field) in map {
                guard let field = field.stringValue, Self.isValid(field: field) else {
                    throw refused(
                        "the field for the claim \(claim) in custom_data is not a name without . "
                            + "and $")
                }
                customData.append(ClaimMapping(claim: claim, field: field))
            }
        }
        if let value = document["algorithms"] {
            let names = value.arrayValue?.values.map(\.stringValue) ?? []
            let known = names.compactMap { $0.flatMap(WebKey.Algorithm.init) }
            guard !known.isEmpty, known.count == names.count else {
                let all = WebKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw refused("algorithms is not a list of some of \(all)")
            }
            algorithms = Set(known)
        }
    }

    private static var fieldList: String {
        fields.map(\.text).sorted().joined(separator: ", ")
    }

    private static func isValid(name: String) -> Bool {
        (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func isValid(field: String) -> Bool {
        !field.isEmpty
            && !field.utf8.contains { [0, UInt8(ascii: "."), UInt8(ascii: "$")].contains($0) }
    }

    /// The database of the provider's users.
    ///
    /// No database of documents can have the name of a named provider's, so its users are none of
    /// another provider's.
    var userDatabase: String {
        name.map { SignedInUser.externalDatabase + "/" + $0 } ?? SignedInUser.externalDatabase
    }

    /// The text for the log.
    var title: String { name ?? "--jwks" }

    /// Returns the custom data that the claims of a token are mapped to; `nil` without a mapping.
    func customData(_ claims: BSONDocument) -> BSONDocument? {
        guard !customData.isEmpty else { return nil }
        var data: BSONDocument = [:]
        for mapping in customData {
            if let value = claims[mapping.claim] { data.set(mapping.field, to: value) }
        }
        return data
    }

    /// Refuses providers that cannot be told apart.
    ///
    /// - Throws: `UnsafeSettings`.
    static func checkDifferent(_ providers: [TokenProvider]) throws {
        for (index, provider) in providers.enumerated() {
            for other in providers[..<index] {
                if other.issuer.hasSameBytes(as: provider.issuer) {
                    throw UnsafeSettings(
                        description:
                            "two token providers have the issuer \(provider.issuer): a token's "
                            + "issuer decides which provider checks it (list several audiences in "
                            + "one provider)")
                }
                if other.name.hasSameBytes(as: provider.name) {
                    throw UnsafeSettings(
                        description:
                            "two token providers have the name \(provider.title): their users "
                            + "would be the same (give them different names)")
                }
            }
        }
    }
}
