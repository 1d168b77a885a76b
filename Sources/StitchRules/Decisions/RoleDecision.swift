/// The facts about one role that a user may hold.
public struct RoleFacts: Sendable, Hashable {
    /// Whether the role's `apply_when` holds.
    public let applies: Bool
    /// Whether the role can be used with sync.
    public let isSyncable: Bool

    /// Takes the facts.
    public init(applies: Bool, isSyncable: Bool) {
        self.applies = applies
        self.isSyncable = isSyncable
    }
}

/// The role that a user holds.
public enum RoleDecision: Sendable, Hashable {
    /// One of the collection's roles.
    case own(Int)
    /// One of the default roles.
    case byDefault(Int)
    /// The applicable role cannot be used with sync; no other is tried.
    case notSyncable(isDefault: Bool, Int)
    /// No role applies: nothing is allowed.
    case none

    /// Returns the first role that applies.
    ///
    /// - Parameters:
    ///   - own: the collection's roles; `nil` without any, and then the default roles are used.
    ///   - defaults: the default roles.
    ///   - fallsThrough: whether the default roles are also used when no own role applies.
    ///   - isSynced: whether a role that cannot be used with sync denies.
    public static func decide(
        own: [RoleFacts]?, defaults: [RoleFacts], fallsThrough: Bool, isSynced: Bool
    ) -> RoleDecision {
        if let own {
            if let index = own.firstIndex(where: \.applies) {
                return !isSynced || own[index].isSyncable
                    ? .own(index) : .notSyncable(isDefault: false, index)
            }
            guard fallsThrough else { return .none }
        }
        guard let index = defaults.firstIndex(where: \.applies) else { return .none }
        return !isSynced || defaults[index].isSyncable
            ? .byDefault(index) : .notSyncable(isDefault: true, index)
    }
}
