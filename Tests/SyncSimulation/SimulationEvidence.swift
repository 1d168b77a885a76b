import BSONStore
import StitchSync

/// What clients read in the remote's history about their own requests.
extension SimulationLedger {
    /// Notes that a client looks at documents after what it sent so far.
    ///
    /// Where the app has deleted what the remote never confirmed, and a request was given up, that
    /// the document is not there ends the record.
    mutating func noteLookAfterSent(_ client: Int, _ documents: Set<Int>) {
        for (operation, write) in sent
        where owners[operation.instance] == client && documents.contains(write.document) {
            sent[operation]?.isLookedAt = true
        }
        disown(notLanded(client, documents).intersection(givenUp), client)
    }

    /// Which requests have not landed, of those whose sender has looked at the document since.
    func notLanded(_ client: Int, _ documents: Set<Int>) -> Set<OperationID> {
        let own = sent.filter { operation, write in
            write.isLookedAt && documents.contains(write.document)
                && owners[operation.instance] == client
        }
        return Set(own.keys).subtracting(operations)
    }

    /// Notes that a client read the history to its end, and which requests it does not tell of.
    ///
    /// They never landed, by rule R3's evidence 3. Where the app deletes what the remote never
    /// confirmed, before or while that is settled, the record ends, as `noteDelete` says, and so
    /// does what is known of the request.
    mutating func noteUntold(_ operations: Set<OperationID>, _ client: Int) {
        untold[client, default: []].formUnion(operations)
        givenUp.formUnion(operations)
        disown(operations, client)
    }

    /// Notes that a client's pass ends: what it has read is settled.
    mutating func forgetUntold(_ client: Int) { untold[client] = nil }

    /// Requests count as somebody else's where their sender's app has deleted what the remote never
    /// confirmed.
    mutating func disown(_ operations: Set<OperationID>, _ client: Int) {
        let deleted = Set(
            open.lazy.filter { $0.client == client && $0.isOfUnsent }.map(\.document))
        for operation in operations {
            if let write = sent[operation], deleted.contains(write.document) {
                disowned.insert(operation)
            }
        }
    }
}

// MARK: - Looks

extension SimulationLedger {
    /// The client has looked at the document since its write landed; until then nothing that it knows
    /// of the remote takes the value off the device.
    func isSeen(_ write: Write) -> Bool {
        guard let position = landed[write.token] else { return true }
        return looks[write.client * 100 + write.document].map { $0 >= position } ?? false
    }

    /// Forgets what landed of a document that leaves the device.
    mutating func forgetLanded(_ client: Int, _ document: Int) {
        open.removeAll {
            $0.client == client && $0.document == document && landed[$0.token] != nil
        }
    }

    /// I6: no handler is asked about a remote edition that is older than the base.
    mutating func checkAge(
        _ client: Int, _ document: Int, _ conflict: Conflict<BSONDocument>, look: Int64
    ) {
        guard let base = conflict.base else { return }
        let first = (changes[document] ?? []).first { isEqual($0.after, base) }
        if let first, first.position > look {
            fail("I6 asked about what is older than the base: c\(client) d\(document)")
        }
    }

    /// Notes that a client was told that documents are not there.
    ///
    /// What its app had deleted by then is deleted on both sides, which ends the record: who inserts
    /// the document anew, be it before the ledger is summed, makes another that the app never saw.
    /// A delete of what the remote never confirmed still waits for what may land late.
    mutating func noteGone(_ client: Int, _ documents: Set<Int>) {
        open.removeAll {
            $0.client == client && $0.path == nil && !$0.isOfUnsent
                && documents.contains($0.document)
        }
    }
}

// MARK: - Requests

extension SimulationWorld {
    /// Which of a client's requests the history does not tell of at this moment.
    func notLanded(_ client: Int, _ namespace: Namespace) -> Set<OperationID> {
        drain()
        let documents = (0..<plan.documents).filter { self.namespace($0) == namespace }
        return ledger.withLock { $0.notLanded(client, Set(documents)) }
    }

    /// Takes note of an answer that reached its client.
    func didArrive(
        _ client: Int, _ namespace: Namespace, _ ids: [BSONValue], _ lookups: [RemoteLookup]
    ) {
        let gone = zip(ids, lookups).filter { $1 == .absent }
        let documents = gone.compactMap { document(namespace, $0.0) }
        ledger.withLock { $0.noteGone(client, Set(documents)) }
    }
}
