/// Says which tokens of an identity provider let their bearers in.
package struct TokenSettings: Sendable, Hashable {
    /// The file with the provider's public keys, a JSON Web Key Set; read for each sign-in, so that
    /// keys can be changed while the server runs.
    package var keysFile: String
    /// Who must have issued a token; `nil` for anybody who has the key.
    package var issuer: String?
    /// For whom a token must be; `nil` for anybody.
    package var audience: String?
    /// The claim with the roles: texts such as `readWrite@shop`, or documents with `role` and `db`.
    package var rolesClaim: String

    /// Takes the settings.
    package init(
        keysFile: String, issuer: String? = nil, audience: String? = nil,
        rolesClaim: String = "roles"
    ) {
        self.keysFile = keysFile
        self.issuer = issuer
        self.audience = audience
        self.rolesClaim = rolesClaim
    }
}
