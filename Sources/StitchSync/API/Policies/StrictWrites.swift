internal import BSONStore
public import StitchRules

/// Refuses writes at the call that are certainly not allowed, by what is known on the device.
///
/// A courtesy and no security: the remote decides. Without it such a write is stored, and taken back
/// once the remote has refused it.
public struct StrictWrites: Sendable {
    /// The queries of the subscriptions that are in force, over all collections.
    public typealias View = @Sendable () -> [SubscriptionQuery]

    private let rules: RuleAccessPolicy?
    private let view: View?

    /// Judges by rules, as they bind a user at the remote, by subscriptions, or by both.
    ///
    /// - Parameters:
    ///   - rules: the rules and the user whom they bind.
    ///   - view: gives the queries at the time of each write; called in a transaction, it must
    ///     answer at once and must not use the store.
    public init(rules: (RuleSet, RuleUser)? = nil, view: View? = nil) {
        self.rules = rules.map { RuleAccessPolicy($0.0, $0.1) }
        self.view = view
    }

    /// Judges a change of what the remote holds, as far as that is known here.
    ///
    /// - Returns: `nil` where it may be allowed.
    func judge(
        from base: BSONDocument?, to after: BSONDocument?, in namespace: Namespace
    ) -> CompensatingWrite? {
        guard let id = after?["_id"] ?? base?["_id"] else { return nil }
        return judgeByRules(from: base, to: after, in: namespace)
            ?? judgeByView(from: base, to: after, of: id, in: namespace)
    }

    private func judgeByRules(
        from base: BSONDocument?, to after: BSONDocument?, in namespace: Namespace
    ) -> CompensatingWrite? {
        guard let access = rules?.access(namespace) else { return nil }
        do throws(RuleDenial) {
            _ = try access.written(from: base, toShown: after)
            return nil
        } catch {
            return Self.isCertain(error, isMasked: access.hidesFields && base != nil)
                ? CompensatingWrite(error) : nil
        }
    }

    /// Where fields are hidden, conditions about the stored document cannot be judged here.
    private static func isCertain(_ denial: RuleDenial, isMasked: Bool) -> Bool {
        switch denial.cause {
        case .noRole, .roleNotSyncable, .fields: true
        case .writeFilter, .insert, .delete, .write, .hidden: !isMasked
        }
    }

    private func judgeByView(
        from base: BSONDocument?, to after: BSONDocument?, of id: BSONValue,
        in namespace: Namespace
    ) -> CompensatingWrite? {
        guard let queries = view?().filter({ $0.namespace == namespace }) else { return nil }
        let facts = ViewWriteFacts(hasSubscription: !queries.isEmpty, from: base, to: after) {
            document in queries.contains { $0.matches(document) }
        }
        return CompensatingWrite.judge(facts, of: id, in: namespace)
    }
}
