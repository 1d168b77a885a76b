import BSONStore
import StitchSync

/// Remembers outside of the stores what was acknowledged, asked, sent and landed, for invariants I1,
/// I3, I4 and I6.
struct SimulationLedger: Sendable {
    /// The fields whose values the writes make unique.
    static let paths = ["a", "b", "n.x", "n.y"]

    /// An acknowledged value, or a delete, that must not be lost.
    struct Write: Sendable {
        let client: Int
        let document: Int
        /// The field; `nil` for a delete.
        let path: String?
        let token: String
        /// A delete of what the remote never confirmed: it counts only if that landed after all.
        var isOfUnsent = false
        /// Where the remote's history stood.
        let position: Int64
    }

    /// One change of a remote document.
    struct Change: Sendable {
        let position: Int64
        let operation: OperationID?
        let before: BSONDocument?
        let after: BSONDocument?
        /// What is there after it, with its version.
        let edition: BSONDocument?
    }

    /// What was sent, and what its sender knew of the remote then.
    struct Sent: Sendable {
        let document: Int
        let write: RemoteWrite
        let base: BSONDocument?
        /// The sender has looked at the document since.
        var isLookedAt = false
    }

    /// Two editions that a handler was asked about.
    struct Question: Sendable {
        let document: Int
        let base: BSONDocument?
        let local: BSONDocument?
        let remote: BSONDocument?
    }

    var open: [Write] = []
    var violations: [String] = []
    /// What each client's store keeps of rejected writes, by document.
    var rejected: [Int: [(Int, RejectedWrite<BSONDocument>)]] = [:]
    /// Which client an instance is, by its number.
    var owners: [UInt64: Int] = [:]
    /// Where in the remote's history each value landed first.
    var landed: [String: Int64] = [:]
    var operations: Set<OperationID> = []
    var sent: [OperationID: Sent] = [:]
    var disowned: Set<OperationID> = []
    /// What a complete history did not tell of, once.
    var givenUp: Set<OperationID> = []
    /// Of these, what each client's pass under way has read.
    var untold: [Int: Set<OperationID>] = [:]
    private(set) var changes: [Int: [Change]] = [:]
    private(set) var looks: [Int: Int64] = [:]
    private var questions: [Int: [Question]] = [:]
    /// Clients that were told that the history is lost.
    private var historyless: Set<Int> = []
    private(set) var position: Int64 = 0

    mutating func fail(_ violation: String) { violations.append(violation) }
}

// MARK: - Local writes

extension SimulationLedger {
    /// Notes what a client's app wrote: values by field, in place of what it wrote there before.
    mutating func note(_ client: Int, _ document: Int, values: [String: String], isWhole: Bool) {
        open.removeAll { write in
            guard write.client == client && write.document == document else { return false }
            guard let path = write.path else { return true }
            return isWhole || values[path] != nil
        }
        for path in Self.paths {
            guard let token = values[path] else { continue }
            open.append(
                Write(
                    client: client, document: document, path: path, token: token,
                    position: position))
        }
    }

    /// Notes that a client's app unset a field.
    ///
    /// It did so in a document that is there. Where it had deleted one that the remote never
    /// confirmed, this is another, of somebody else's, and what lands of it is no sign of the first.
    mutating func noteUnset(_ client: Int, _ document: Int, _ path: String) {
        open.removeAll {
            $0.client == client && $0.document == document
                && ($0.path == path || $0.isOfUnsent)
        }
    }

    /// Notes that a client's app deleted a document.
    ///
    /// Nothing is left to do where it was never sent, and its record is gone with it (rule R2). A
    /// request that lands after a complete history did not tell of it (rule R3, evidence 3) finds
    /// nobody who could take it for their own.
    mutating func noteDelete(
        _ client: Int, _ document: Int, hasRecord: Bool, base: BSONDocument?
    ) {
        forget(client, document)
        guard hasRecord || isThere(client, document) else { return disown(client, document) }
        let isOfSent = base.map { !isGoneUnseen(client, document, base: $0) } ?? false
        open.append(
            Write(
                client: client, document: document, path: nil, token: "", isOfUnsent: !isOfSent,
                position: position))
        disown(untold[client] ?? [], client)
    }

    /// A delete of the client's has landed since the edition that it knows of: what its app deletes now
    /// is gone, or made anew, whatever somebody has put in the place of the first.
    ///
    /// A server may go back to that edition, also while a pass has read so and not yet taken it in: the
    /// first of its kind counts.
    private func isGoneUnseen(_ client: Int, _ document: Int, base: BSONDocument) -> Bool {
        let changes = changes[document] ?? []
        let known = changes.first { isEqual($0.after, base) }?.position ?? -1
        return changes.contains { change in
            change.after == nil && change.position > known
                && change.operation.map { owners[$0.instance] } == client
        }
    }

    /// The remote shows what the client itself wrote.
    private func isThere(_ client: Int, _ document: Int) -> Bool {
        let last = changes[document]?.last { !isEqual($0.before, $0.after) }
        return last.map { isOwn($0, client) && $0.after != nil } ?? false
    }

    /// A client's record of a document is gone, by the app's word: what it sent before counts as
    /// somebody else's, since rule R3 knows an own write by the record of its attempt.
    mutating func disown(_ client: Int, _ document: Int) {
        for (operation, write) in sent
        where write.document == document && owners[operation.instance] == client {
            disowned.insert(operation)
        }
    }

    private func isOwn(_ change: Change, _ client: Int) -> Bool {
        guard let operation = change.operation, !disowned.contains(operation) else { return false }
        return owners[operation.instance] == client
    }

    /// Forgets what a client wrote to a document, or to all, as its app asked.
    mutating func forget(_ client: Int, _ document: Int? = nil) {
        open.removeAll {
            $0.client == client && (document == nil || $0.document == document)
        }
    }

    /// I1: every open write is in the local document, landed and its client has looked since, or was
    /// given up by a handler.
    mutating func check(_ client: Int, local: (Int) throws -> BSONDocument?) rethrows {
        var kept: [Write] = []
        for write in open {
            guard write.client == client else {
                kept.append(write)
                continue
            }
            if hasLanded(write) && isSeen(write) { continue }
            if isRejected(write) {
                kept.append(write)
                continue
            }
            let document = try local(write.document)
            let isHere =
                write.path.map { document?[path: $0] == .string(write.token) } ?? (document == nil)
            if isHere {
                kept.append(write)
            } else if !write.isOfUnsent || isThere(client, write.document) {
                fail(
                    "I1 lost: c\(client) d\(write.document) "
                        + "\(write.path ?? "delete") \(write.token)")
            }
        }
        open = kept
    }

    private func hasLanded(_ write: Write) -> Bool {
        guard write.path == nil else { return landed[write.token] != nil }
        let changes = changes[write.document] ?? []
        if changes.last?.after == nil { return true }
        if changes.contains(where: { $0.after == nil && $0.position > write.position }) {
            return true
        }
        // Somebody else had deleted it before, and its client has seen that: since, or with nothing
        // happening to it in between.
        guard let look = looks[write.client * 100 + write.document] else { return false }
        let then = changes.last { $0.position <= max(look, write.position) }
        guard let then else { return look >= write.position }
        return then.after == nil && then.position <= look
    }

    /// I1 at the end: nothing waits any more.
    mutating func checkEnd() {
        for write in open where !hasLanded(write) && !isRejected(write) {
            if write.isOfUnsent && !isThere(write.client, write.document) { continue }
            fail(
                "I1 never landed: c\(write.client) d\(write.document) "
                    + "\(write.path ?? "delete") \(write.token)")
        }
    }
}

// MARK: - Conflicts

extension SimulationLedger {
    /// Notes up to where the remote's history was visible to a look.
    mutating func noteLook(_ client: Int, _ documents: [Int]) {
        for document in documents { looks[client * 100 + document] = position }
    }

    /// Notes that a client was told an edition of a document by the history, which it may take without
    /// a look.
    mutating func noteTold(_ client: Int, _ document: Int, _ edition: BSONDocument) {
        guard let told = changes[document]?.last(where: { $0.edition == edition }) else { return }
        let key = client * 100 + document
        looks[key] = max(looks[key] ?? told.position, told.position)
    }

    /// Notes that a client was told that the history is lost.
    mutating func noteHistoryLost(_ client: Int) { historyless.insert(client) }

    /// Notes a question to a handler, and that what it gives up is its business (I1).
    mutating func note(
        _ client: Int, _ document: Int, _ conflict: Conflict<BSONDocument>,
        answer: BSONDocument??
    ) {
        let question = Question(
            document: document, base: conflict.base, local: conflict.local,
            remote: conflict.remote)
        if questions[client]?.contains(where: { same($0, question) }) == true {
            fail("I6 asked twice: c\(client) d\(document)")
        }
        questions[client, default: []].append(question)
        checkCause(client, document, conflict)
        guard let answer else { return }
        open.removeAll { write in
            guard write.client == client && write.document == document else { return false }
            guard let path = write.path else { return answer != nil }
            return answer?[path: path] != .string(write.token)
        }
    }

    /// Forgets the questions of a client, who may ask them again.
    ///
    /// I6 forbids a second question about the same states, where the first was answered and the
    /// answer stored. A kill, a full disk or a cancellation comes between the two, and what was not
    /// committed did not happen. A document that its app resumes or edits after a handler threw is
    /// tried again. And after a remote goes back to an old edition, the same states exist a second
    /// time (rule R5).
    mutating func forgetQuestions(_ client: Int, _ document: Int? = nil) {
        guard let document else {
            questions[client] = nil
            return
        }
        questions[client]?.removeAll { $0.document == document }
    }

    private func same(_ left: Question, _ right: Question) -> Bool {
        left.document == right.document && isEqual(left.base, right.base)
            && isEqual(left.local, right.local) && isEqual(left.remote, right.remote)
    }

    /// I6: the handler is called only when somebody else changed the document after the base.
    ///
    /// Where the conflict says that the local change may have landed, nobody can know better: the
    /// history is lost, or has a delete by nobody known (rule R3, evidence 4).
    private mutating func checkCause(
        _ client: Int, _ document: Int, _ conflict: Conflict<BSONDocument>
    ) {
        if conflict.mayHaveLanded {
            let isUnclear = (changes[document] ?? []).contains {
                $0.after == nil && $0.operation == nil
            }
            if !isUnclear && !historyless.contains(client) {
                fail("I6 uncertain of what the history tells: c\(client) d\(document)")
            }
            return
        }
        let look = looks[client * 100 + document] ?? position
        let seen = (changes[document] ?? []).filter { $0.position <= look }
        let base = seen.lastIndex { isEqual($0.after, conflict.base) }
        let since = seen[(base.map { $0 + 1 } ?? 0)...]
        checkAge(client, document, conflict, look: look)
        if !since.contains(where: { !isOwn($0, client) && !isEqual($0.before, $0.after) }) {
            fail("I6 false conflict: c\(client) d\(document)")
        }
    }
}

// MARK: - The remote's history

extension SimulationLedger {
    /// Notes a write that is about to be sent, with what its sender knows of the remote.
    mutating func noteSent(_ write: RemoteWrite, _ document: Int, base: BSONDocument?) {
        if let before = sent[write.operation], before.write != write {
            fail("I3 one name for two writes: \(write.operation)")
        }
        sent[write.operation] = Sent(document: document, write: write, base: base)
    }

    /// Takes in what happened at the remote since the last call.
    mutating func take(_ batch: StoreChangeBatch, document: (StoreChange) -> Int?) {
        position = batch.position
        for change in batch.changes {
            guard let number = document(change) else { continue }
            let operation = change.comment.flatMap(OperationID.init)
            changes[number, default: []].append(
                Change(
                    position: change.position, operation: operation,
                    before: change.before?.bare, after: change.after?.bare,
                    edition: change.after))
            for path in Self.paths {
                guard case .string(let token)? = change.after?[path: path] else { continue }
                if landed[token] == nil { landed[token] = change.position }
            }
            guard let operation else { continue }
            if !operations.insert(operation).inserted { fail("I4 landed twice: d\(number)") }
            checkVersions(change, number)
            checkSeen(change, operation, number)
        }
    }

    /// I3: the counter of a lineage grows.
    private mutating func checkVersions(_ change: StoreChange, _ document: Int) {
        guard let before = change.before.map(VersionField.init)?.version,
            let after = change.after.map(VersionField.init)?.version,
            before.lineage == after.lineage
        else { return }
        if after.counter <= before.counter { fail("I3 the counter fell: d\(document)") }
    }

    /// I6: what a write changed held what its sender knew of.
    private mutating func checkSeen(
        _ change: StoreChange, _ operation: OperationID, _ document: Int
    ) {
        guard let sent = sent[operation], let was = change.before?.bare else { return }
        if case .insert = sent.write.action { return fail("I6 an insert over a document") }
        if change.before.map(VersionField.init) != sent.write.condition.version {
            fail("I6 written over another version: d\(document)")
        }
        switch sent.write.action {
        case .insert: return
        case .update(let set, let unset):
            let paths = (set.keys + unset).filter { $0 != DocumentVersion.fieldName }
            if paths.isEmpty, change.before.map(VersionField.init) != .absent {
                fail("I6 claimed over a version: d\(document)")
            }
            if !paths.allSatisfy({ isEqual(sent.base?[path: $0], was[path: $0]) }) {
                fail("I6 overwritten unseen: d\(document)")
            }
        case .replace, .delete:
            if !isEqual(sent.base, was) { fail("I6 overwritten unseen: d\(document)") }
        }
    }

    /// The editions that a remote document has had, for a server that goes back to one.
    func editions(_ document: Int) -> [BSONDocument] {
        (changes[document] ?? []).compactMap(\.edition)
    }
}

/// Whether two documents hold the same content; both absent counts as equal.
func isEqual(_ left: BSONDocument?, _ right: BSONDocument?) -> Bool {
    isEqual(left.map(BSONValue.document), right.map(BSONValue.document))
}

/// Whether two values hold the same content, in any order of fields; both absent counts as equal.
func isEqual(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.contentEquals(right)
    case (nil, _), (_, nil): false
    }
}

extension BSONDocument {
    /// The document without its version field.
    var bare: BSONDocument {
        var document = self
        while document.removeValue(forKey: DocumentVersion.fieldName) != nil {}
        return document
    }
}
