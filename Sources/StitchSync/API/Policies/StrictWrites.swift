internal import BSONStore
@_exported public import StitchRules

/// A local check that makes a write throw at the call when the remote would certainly refuse it.
///
/// It is a convenience, not a protection: the remote decides. Without it the engine stores such a
/// write and reverts it once the remote has refused it.
///
/// ```swift
/// let open = try SubscriptionQuery(todos.find(["done": false]))
/// await todos.configure(strictWrites: StrictWrites(view: { [open] }))
/// ```
public struct StrictWrites: Sendable {
    /// A closure that returns the queries of the active subscriptions, and of those that show documents
    /// while they arrive, over all collections.
    ///
    /// ```swift
    /// let all = try SubscriptionQuery(Namespace("app", "todos"))
    /// let view: StrictWrites.View = { [all] }
    /// ```
    public typealias View = @Sendable () -> [SubscriptionQuery]

    private let rules: RuleAccessPolicy?
    private let view: View?

    /// Makes a check by access rules, by subscriptions, or by both.
    ///
    /// - Parameters:
    ///   - rules: the rules, and the user to whom they apply.
    ///   - view: returns the current queries; called in a transaction at each write, it must return
    ///     at once and must not use the store.
    public init(rules: (RuleSet, RuleUser)? = nil, view: View? = nil) {
        self.rules = rules.map { RuleAccessPolicy($0.0, $0.1) }
        self.view = view
    }

    /// Judges a change from the remote's document, as far as the device knows it.
    ///
    /// - Returns: `nil` where the remote may allow it.
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
            _ = try access.judge(from: base, toShown: after)
            return nil
        } catch {
            return Self.isCertain(error, isMasked: access.hidesFields && base != nil)
                ? CompensatingWrite(error) : nil
        }
    }

    /// Whether the denial holds at the remote, too: with hidden fields the device cannot evaluate
    /// conditions on the stored document.
    private static func isCertain(_ denial: RuleDenial, isMasked: Bool) -> Bool {
        switch denial.cause {
        case .noRole, .roleNotSyncable, .fieldsDenied: true
        case .writeFilter, .insertDenied, .deleteDenied, .writeDenied, .notAllowed: !isMasked
        // Rules do not look at these.
        case .outOfView, .noSubscription, .invalid, .tooLarge: true
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
