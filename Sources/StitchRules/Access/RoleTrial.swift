package import BSONStore

/// One role that was tried for a user, in the order of the rules.
package struct RoleTrial: Sendable {
    /// The role's name.
    package let name: String
    /// Whether it is a default role.
    package let isDefault: Bool
    /// Whether its `apply_when` holds for the user.
    package let applies: Bool
    /// The file of the role.
    package let file: String
    /// The place of its `apply_when` in the file.
    package let path: String
}

extension RuleSet {
    /// Returns the roles that are tried for a user in a collection, up to the first that applies.
    package func trials(in namespace: Namespace, for user: RuleUser) -> [RoleTrial] {
        let binding = RuleExpressionBinding(user: user, constants: constants)
        let own = roles(of: namespace)
        let defaults = own == nil || own?.fallsThrough == true ? self.defaults?.roles ?? [] : []
        let all = (own?.roles ?? []).map { ($0, false) } + defaults.map { ($0, true) }
        var trials: [RoleTrial] = []
        for (role, isDefault) in all {
            let applies = binding.bind(role.applyWhen) == .constant(true)
            trials.append(
                RoleTrial(
                    name: role.name.text, isDefault: isDefault, applies: applies,
                    file: role.place.file, path: role.place["apply_when"].path))
            if applies { break }
        }
        return trials
    }
}
