internal import BSONStore
internal import StitchRules

/// The rules that apply to a connection's user, kept with the connection.
struct ConnectionRules: Sendable {
    let ruleGuard: RuleAccessPolicy
    let user: SignedInUser
    /// The version of the rules.
    let edition: Int
    /// The newest change at the time the user's custom data were read; `nil` if that is unknown.
    let position: Int64?
}
