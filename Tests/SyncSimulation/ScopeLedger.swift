import BSONStore
import StitchSync

/// Remembers outside of the stores what was acknowledged, asked and sent, for invariants I1, I4, I6.
final class ScopeLedger: Sendable {
    struct Entry: Sendable {
        let action: ScopeAction
        let token: String
        var isAcknowledged = false
    }

    struct Asked: Sendable {
        let actor: ScopeAction.Actor
        let conflict: Conflict<BSONDocument>
        let position: Int64
    }

    struct Sent: Sendable {
        let write: RemoteWrite
        let base: BSONDocument?
    }

    struct State: Sendable {
        var entries: [Entry] = []
        var asked: [Asked] = []
        var sent: [Sent] = []
        /// Where the remote's history stood when a document was last looked at.
        var lookedAt: Int64 = 0
    }

    let state = Locked(State())

    func begin(_ action: ScopeAction, _ token: String) -> Int {
        state.withLock { state in
            state.entries.append(Entry(action: action, token: token))
            return state.entries.count - 1
        }
    }

    func acknowledge(_ entry: Int) { state.withLock { $0.entries[entry].isAcknowledged = true } }

    func note(_ actor: ScopeAction.Actor, _ conflict: Conflict<BSONDocument>) {
        state.withLock {
            $0.asked.append(Asked(actor: actor, conflict: conflict, position: $0.lookedAt))
        }
    }

    func noteLook(at position: Int64) { state.withLock { $0.lookedAt = position } }

    /// Notes what is sent, with the base that the sender's store holds.
    func note(
        _ writes: [RemoteWrite], _ clients: [ScopeAction.Actor: ScopeRun.Client]
    ) async throws {
        for write in writes {
            let actor: ScopeAction.Actor = write.operation.instance == 1 ? .a : .b
            guard let client = clients[actor] else { continue }
            let base = try await client.engine.collection(ScopeRun.namespace)
                .confirmedDocument(id: ScopeRun.key)
            state.withLock { $0.sent.append(Sent(write: write, base: base)) }
        }
    }

    /// Whether a handler was asked anything.
    var wasAsked: Bool { state.withLock { !$0.asked.isEmpty } }

    func violations(_ history: [StoreChange]) -> [String] {
        let state = state.withLock { $0 }
        return falseConflicts(state, history) + missedConflicts(state, history)
            + doubles(history) + lost(state, history)
    }

    private func isOwn(_ change: StoreChange, _ actor: ScopeAction.Actor) -> Bool {
        change.comment.flatMap(OperationID.init)?.instance == (actor == .a ? 1 : 2)
    }

    /// I6: the handler is called only when somebody else changed the document after the base.
    private func falseConflicts(_ state: State, _ history: [StoreChange]) -> [String] {
        state.asked.compactMap { asked in
            let before = history.filter { $0.position <= asked.position }
            let base = before.lastIndex {
                isEqual($0.after?.bare, asked.conflict.base)
            }
            let since = before[(base.map { $0 + 1 } ?? 0)...]
            let others = since.contains { change in
                !isOwn(change, asked.actor)
                    && !isEqual(change.before?.bare, change.after?.bare)
            }
            return others ? nil : "I6 false conflict at \(asked.actor)"
        }
    }

    /// I6: what a write changed held what its sender knew of.
    private func missedConflicts(_ state: State, _ history: [StoreChange]) -> [String] {
        state.sent.compactMap { sent in
            let landed = history.first {
                $0.comment.flatMap(OperationID.init) == sent.write.operation
            }
            guard let landed, let base = sent.base, let was = landed.before else { return nil }
            let paths: [String]
            switch sent.write.action {
            case .insert: return nil
            case .update(let set, let unset):
                paths = (set.keys + unset).filter { $0 != DocumentVersion.fieldName }
            case .replace, .delete:
                paths = Array(Set(base.keys + was.bare.keys))
            }
            return paths.allSatisfy { base[path: $0] == was[path: $0] }
                ? nil : "I6 missed conflict"
        }
    }

    /// I4: an attempt lands at most once.
    private func doubles(_ history: [StoreChange]) -> [String] {
        let operations = history.compactMap { $0.comment.flatMap(OperationID.init) }
        return Set(operations).count == operations.count ? [] : ["I4 landed twice"]
    }

    /// I1: each acknowledged write landed, was superseded, or was shown to the handler.
    private func lost(_ state: State, _ history: [StoreChange]) -> [String] {
        state.entries.indices.compactMap { index in
            let entry = state.entries[index]
            guard entry.isAcknowledged else { return nil }
            let later = state.entries[(index + 1)...].filter {
                $0.action.actor == entry.action.actor
            }.map(\.action.verb)
            if later.contains(.delete) || later.contains(.insert) { return nil }
            let fields: [String]
            switch entry.action.verb {
            case .setA: fields = later.contains(.setA) ? [] : ["a"]
            case .setB: fields = later.contains(.setB) ? [] : ["b"]
            case .insert:
                fields = later.contains(.setA) ? (later.contains(.setB) ? [] : ["b"]) : ["a"]
            case .delete: return lostDelete(entry, state, history)
            case .same, .sync, .unbumped, .unset, .raise, .remove, .replace: return nil
            }
            let isKept = fields.allSatisfy { field in
                history.contains { $0.after?[field] == .string(entry.token) }
                    || state.asked.contains {
                        $0.actor == entry.action.actor
                            && $0.conflict.local?[field] == .string(entry.token)
                    }
            }
            return isKept ? nil : "I1 lost \(entry.action)"
        }
    }

    private func lostDelete(
        _ entry: Entry, _ state: State, _ history: [StoreChange]
    ) -> String? {
        let wasThere = history.contains { $0.after != nil }
        let isSettled =
            !wasThere || history.contains { $0.kind == .delete }
            || state.asked.contains {
                $0.actor == entry.action.actor && $0.conflict.local == nil
            } || neverSent(entry, state, history)
        return isSettled ? nil : "I1 lost \(entry.action)"
    }

    /// The document that was deleted never reached the remote: nothing of this client's is there.
    private func neverSent(
        _ entry: Entry, _ state: State, _ history: [StoreChange]
    ) -> Bool {
        let tokens = state.entries.filter { $0.action.actor == entry.action.actor }.map(\.token)
        let inserted = state.entries.contains {
            $0.action.actor == entry.action.actor && $0.action.verb == .insert
        }
        return inserted
            && !history.contains { change in
                tokens.contains { change.after?["b"] == .string($0) }
            }
    }
}
