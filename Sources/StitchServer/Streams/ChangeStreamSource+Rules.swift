internal import BSONStore
internal import StitchRules

extension ChangeStreamSource {
    /// Returns a fingerprint of what the rules let the stream's user see.
    static func fingerprint(_ rules: RuleAccessPolicy?, _ scope: ChangeStreamScope) -> UInt64? {
        switch scope {
        case .collection(let namespace): rules?.fingerprint(namespace)
        case .database(let database): rules?.fingerprintOfAll(Namespace(database.text, "$cmd"))
        case .cluster: rules?.fingerprintOfAll(Namespace("", "$cmd"))
        }
    }

    /// Starts the stream under rules.
    ///
    /// - Throws: 286 for a token from a time of other rules, or of another user: the feed does
    ///   not show what became visible since.
    mutating func begin(under rules: RuleAccessPolicy?) throws(CommandFailure) {
        ruleGuard = rules
        let fingerprint = Self.fingerprint(rules, scope)
        if fingerprint != nil, case .behind(let given) = stage.start {
            guard given.rules == fingerprint, given.kind != .turn else {
                throw RuleChangeReplay.readAnew
            }
        }
        place.rules = fingerprint
    }

    /// Applies the rules that are in force now.
    ///
    /// - Throws: 286 when rules now apply to a user without rules before, or the reverse.
    mutating func go(onUnder rules: RuleAccessPolicy?) throws {
        guard let rules, let former = ruleGuard else {
            guard rules == nil, ruleGuard == nil else { throw RuleChangeReplay.readAnew }
            return
        }
        guard rules !== former else { return }
        if Self.fingerprint(rules, scope) != Self.fingerprint(former, scope) {
            // No earlier images exist of documents that became visible or invisible.
            guard turnover == nil, stage.fullDocumentBeforeChange == .off else {
                throw RuleChangeReplay.readAnew
            }
            turnover = try store.read { transaction in
                try RuleChangeReplay(
                    transaction, after: place.position, in: scope, from: former, to: rules)
            }
        }
        ruleGuard = rules
    }

    /// Adds the events that result from changed rules, after all earlier events.
    ///
    /// - Returns: whether the batch has room for more.
    mutating func turn(
        _ batch: inout CursorBatch, _ limits: BatchLimits, _ bytes: inout Int
    ) throws -> Bool {
        guard var turnover, place.position >= turnover.position else { return true }
        return try store.read { transaction in
            try transaction.withAccessPolicy(ruleGuard) {
                while batch.documents.count < limits.documentsMax {
                    let untold = turnover
                    guard let turn = turnover.next() else {
                        self.turnover = nil
                        let start = place.start
                        place = try ChangeStreamPosition(marking: turnover.position, transaction)
                        place.start = start
                        place.rules = Self.fingerprint(ruleGuard, scope)
                        return true
                    }
                    var behind = place
                    behind.kind = .turn
                    behind.definition = turnover.toldCount
                    if let event = try document(turn, behind, transaction),
                        let document = try passed(event, transaction),
                        !give(document, behind, &batch, limits, &bytes)
                    {
                        self.turnover = untold
                        return false
                    }
                }
                self.turnover = turnover
                return false
            }
        }
    }

    /// Whether the events for changed rules already cover a change.
    func isToldApart(_ entry: FeedPage.Entry) -> Bool {
        guard let turnover, case .change(let change) = entry else { return false }
        return turnover.namespaces.contains(change.namespace)
    }

    private func document(
        _ turn: RuleChangeReplay.ReplayedDocument, _ place: ChangeStreamPosition,
        _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        let key: BSONDocument = ["_id": turn.id]
        let change: StoreChange
        var passage: VisibleChange.VisibilityTransition?
        switch turn.kind {
        case .enters, .changes:
            // Later changes of the document follow as events of their own.
            guard let document = try transaction.get(turn.namespace, id: turn.id) else {
                return nil
            }
            passage = turn.kind == .enters ? .entered : nil
            change = StoreChange(
                standingAt: place.position, turn.namespace,
                turn.kind == .enters ? .insert : .replace, before: nil, after: document)
        case .leaves, .goes:
            passage = turn.kind == .leaves ? .left : nil
            change = StoreChange(
                standingAt: place.position, turn.namespace, .delete, before: key, after: nil)
        }
        let event = ChangeStreamEvent(change: change, place: place, stamp: lastStamp)
        var document = try event.document(stage, keepsImages: false) { _ in nil }
        if let passage { document.append(passage.rawValue, true) }
        return document
    }
}
