import BSONStore
import StitchSync

/// What a client meets for a pass in place of the remote.
enum SimulationElsewhere: Sendable {
    /// Another, empty one.
    case other
    /// The same one, which has lost all rows and all history.
    case emptied
    /// The same one as it was a while ago.
    case restored
}

// MARK: - The way there

extension SimulationWorld {
    /// Lets a client's pass meet something else than the remote, by chance.
    func goElsewhere(_ number: Int) async throws {
        if dice.strikes(.otherRemote) {
            clients[number].elsewhere = try knowsRemote(number) ? .other : nil
        } else if dice.strikes(.emptiedRemote) {
            clients[number].elsewhere = try isInStep(number) ? .emptied : nil
        } else if dice.strikes(.restoredRemote) {
            guard earlierStore != nil else { return try keepEarlier() }
            guard try isInStep(number), !clients.contains(where: { $0.elsewhere == .restored })
            else { return }
            clients[number].elsewhere = .restored
            // What is older comes back, and what the client knows of its own writes is of no use there.
            ledger.withLock { ledger in
                for document in 0..<plan.documents { ledger.noteLeft(number, document) }
            }
        }
    }

    /// Keeps the remote as it is now, to be met later.
    private func keepEarlier() throws {
        let path = newFile("remote")
        try remoteStore.backup(to: path)
        let options = DocumentStore.Options(
            durability: .normal, changeHistory: .keep(changesMax: 100_000))
        earlierStore = try DocumentStore(at: .file(path), options: options)
    }

    /// Whether a client has met the remote's collections, so that it can tell others from them.
    private func knowsRemote(_ number: Int) throws -> Bool {
        // What waits is sent to a remote that does not tell which one it is.
        guard plan.tellsIdentity else { return try isInStep(number) }
        return try clients[number].engine.store.read { try SyncEngine.knowsRemotes(in: $0) }
    }

    /// Whether nothing waits that a remote would take which looks like the right one.
    private func isInStep(_ number: Int) throws -> Bool {
        let tellsIdentity = plan.tellsIdentity
        return try clients[number].engine.store.read {
            try SyncEngine.hasSentAll(in: $0)
                && (!tellsIdentity || SyncEngine.knowsRemotes(in: $0))
        }
    }

    /// Whether a client's app may write: what it writes while the client is at a remote that looks
    /// like the right one may be sent there, and no engine could know.
    func mayWrite(_ number: Int) -> Bool {
        switch clients[number].elsewhere {
        case nil: true
        case .other: plan.tellsIdentity
        case .emptied, .restored: false
        }
    }

    /// Whether a client's requests go to something else than the remote, where late ones are lost.
    func isElsewhere(_ number: Int) -> Bool { clients[number].elsewhere != nil }

    /// The collection that a client's requests go to.
    func target(
        _ number: Int, _ namespace: Namespace, _ base: any RemoteCollection
    ) -> any RemoteCollection {
        guard clients.indices.contains(number) else { return base }
        let store: DocumentStore? =
            switch clients[number].elsewhere {
            case nil: nil
            case .other, .emptied: otherStore
            case .restored: earlierStore
            }
        guard let store else { return base }
        return InProcessRemote(store: store, commitsOnCallingThread: true).collection(namespace)
    }

    /// The collection that says which one it is: what was emptied or put back is the same as before.
    func teller(
        _ number: Int, _ namespace: Namespace, _ base: any RemoteCollection
    ) -> any RemoteCollection {
        switch clients[number].elsewhere {
        case nil, .emptied, .restored: base
        case .other: target(number, namespace, base)
        }
    }
}

// MARK: - Checks

extension SimulationWorld {
    /// What a client's store holds.
    func locals(_ number: Int) throws -> [BSONDocument?] {
        try (0..<plan.documents).map { try local(clients[number], $0) }
    }

    /// D7: nothing is sent to another remote, no delete to what lost its documents, and no delete of
    /// a document whose row is missing.
    func checkMaySend(_ number: Int, _ document: Int, _ write: RemoteWrite) throws {
        let elsewhere = clients[number].elsewhere
        if elsewhere == .other && plan.tellsIdentity {
            fail("D7 c\(number) sends d\(document) to another remote")
        }
        guard case .delete = write.action else { return }
        if elsewhere != nil { fail("D7 c\(number) deletes d\(document) elsewhere") }
        if clients[number].lost[document] != nil, try local(clients[number], document) == nil {
            fail("D7 c\(number) sends the missing row of d\(document) as a delete")
        }
    }

    /// D7: what says nothing of a document removes none; and where it tells that it is another remote,
    /// it is not even looked at.
    func checkElsewhere(
        _ number: Int, _ report: SyncPassReport?, _ before: [BSONDocument?]
    ) throws {
        guard let elsewhere = clients[number].elsewhere else { return }
        if elsewhere == .restored { return try checkRestored(number, before) }
        if let report, report.removed > 0 {
            fail("D7 c\(number) removed what another remote lacks")
        }
        if let report, elsewhere == .other, plan.tellsIdentity, report.unexplained > 0 {
            fail("D7 c\(number) believed another remote")
        }
        guard elsewhere == .emptied else { return }
        for (document, was) in before.enumerated() where was != nil {
            try checkUnchanged(number, document, was)
        }
    }

    /// D7: a document is as it was, but where its client does not subscribe to it any more.
    private func checkUnchanged(_ number: Int, _ document: Int, _ was: BSONDocument?) throws {
        let now = try local(clients[number], document)
        if isEqual(was, now) { return }
        let subscribed = try clients[number].engine.heldSubscriptions()
        let isWanted = subscribed.contains { subscription in
            subscription.query.namespace == namespace(document)
                && was.map(subscription.query.matches) ?? false
        }
        if now == nil && SimulationPlan.hasSubscriptions(plan.seed) && !isWanted { return }
        fail("D7 c\(number) d\(document) changed without history")
    }

    /// D7: what was put back removes what it knows to have been deleted, and else nothing.
    private func checkRestored(_ number: Int, _ before: [BSONDocument?]) throws {
        guard let store = earlierStore else { return }
        let position = try store.changePosition
        for (document, was) in before.enumerated() where was != nil {
            let isThere = try store.read { try $0.get(namespace(document), id: id(document)) }
            let isDeleted = ledger.withLock { $0.wasDeleted(document, upTo: position) }
            if isThere != nil || isDeleted { continue }
            try checkUnchanged(number, document, was)
        }
        store.close()
        earlierStore = nil
    }
}

extension SimulationLedger {
    /// Whether the history up to a place has a delete of a document.
    func wasDeleted(_ document: Int, upTo position: Int64) -> Bool {
        (changes[document] ?? []).contains { $0.after == nil && $0.position <= position }
    }
}
