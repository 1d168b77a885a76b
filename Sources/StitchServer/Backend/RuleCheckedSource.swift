internal import BSONStore
internal import StitchRules

/// A cursor's documents, available as long as the rules decide as they did when it was opened.
struct RuleCheckedSource: CursorSource {
    private var source: any CursorSource
    private let rules: UserRules
    private let ruleGuard: RuleAccessPolicy?
    private let user: SignedInUser?
    private let namespace: Namespace

    var survivesCollectionEnd: Bool { source.survivesCollectionEnd }
    var memoryBytes: Int { source.memoryBytes }
    var isSpooled: Bool { source.isSpooled }
    var isForwarded: Bool { source.isForwarded }
    var news: CommitNotifier? { source.news }
    var newsScope: CommitScope { source.newsScope }
    var reportsRuleChanges: Bool { source.reportsRuleChanges }
    var changesUpTo: BSONDatetime? { source.changesUpTo }

    init(
        _ source: any CursorSource, _ rules: UserRules, _ ruleGuard: RuleAccessPolicy?,
        _ call: CommandCall,
        _ namespace: Namespace
    ) {
        self.source = source
        self.rules = rules.lasting
        self.ruleGuard = ruleGuard
        self.namespace = namespace
        user = call.connection.state.withLock { $0.user }
    }

    mutating func skipUnseen() -> Bool { source.skipUnseen() }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        let user = call.connection.state.withLock { $0.user }
        guard user?.name == self.user?.name, user?.database == self.user?.database else {
            throw CommandFailure(13, "The cursor belongs to another user")
        }
        try checkRules(call)
        let batch = try source.next(limits, call)
        // The deployment behind a gateway may have waited for the documents.
        if source.isForwarded { try checkRules(call) }
        return batch
    }

    private func checkRules(_ call: CommandCall) throws {
        let now = try rules.ruleGuard(call)
        let isSame =
            switch (ruleGuard, now) {
            case (nil, nil): true
            case (let before?, let now?): before.decidesEqually(now, namespace)
            case (nil, _?), (_?, nil): false
            }
        guard isSame || source.reportsRuleChanges else {
            if let id = user?.origin?.accountID, call.server.deletedAccounts.contains(id) {
                throw CommandFailure(391, "the account was deleted; sign in again")
            }
            throw CommandFailure(175, "The rules for this user have changed; send the query again")
        }
    }
}
