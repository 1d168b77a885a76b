internal import BSONStore

/// The conditions for accepting tokens of an identity provider.
package struct TokenSettings: Sendable, Hashable {
    /// The file with the provider's public keys, a JSON Web Key Set; read at each sign-in, so that
    /// keys can be changed while the server runs.
    package var keysFile: String
    /// The required issuer; `nil` accepts any issuer whose key is in the file.
    package var issuer: String?
    /// The required audience; `nil` accepts any.
    package var audience: String?
    /// The claim with the roles: strings such as `readWrite@shop`, or documents with `role` and
    /// `db`.
    package var rolesClaim: String

    /// Creates the settings.
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
