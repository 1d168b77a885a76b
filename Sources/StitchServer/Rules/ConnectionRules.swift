internal import BSONStore
internal import StitchRules

/// Remembers on a connection through which rules its user goes.
struct ConnectionRules: Sendable {
    let ruleGuard: RuleAccessPolicy
    let user: SignedInUser
    /// The edition of the rules.
    let edition: Int
    /// The newest change when the user's custom data were read.
    let position: Int64
}
