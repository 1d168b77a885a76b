import BSONStore
import StitchSync

/// Rows that go from a client's table past its engine, as damage does.
extension SimulationWorld {
    /// Loses a row of a client, by chance.
    ///
    /// What waited in it is lost with it, which the engine cannot mend but must tell.
    func loseRow(_ number: Int) async throws {
        guard dice.strikes(.lostRow) else { return }
        let document = dice.draw { $0.below(plan.documents) }
        guard let local = try local(clients[number], document),
            try await items(number, document).status(of: id(document)) != .notSynced
        else { return }
        try hear(number)
        let confirmed = try await items(number, document).confirmedDocument(id: id(document))
        dice.note("    c\(number) loses the row of d\(document)")
        try clients[number].store.loseRow(id(document), in: namespace(document))
        clients[number].lost[document] = !isEqual(confirmed, local)
        clients[number].told[document] = nil
        ledger.withLock { ledger in
            ledger.forget(number, document)
            ledger.noteLeft(number, document)
        }
    }

    /// Notes that the app says what is to become of a document: its change need not be told any more.
    func noteAppKnows(_ number: Int, _ document: Int) {
        if clients[number].lost[document] != nil { clients[number].lost[document] = false }
    }

    /// Whether something that was found is a row that was lost.
    func isOfLostRow(_ finding: SyncFinding, _ number: Int) -> Bool {
        guard finding.kind == .localDocumentMissing, let id = finding.documentID,
            let document = document(finding.namespace, id)
        else { return false }
        return clients[number].lost[document] != nil
    }

    /// D7: a change that was lost with its row is told until its app says what is to become of the
    /// document; without a change the document may come again.
    func checkLostRows(_ number: Int, _ findings: [SyncFinding]) {
        var told: Set<Int> = []
        for finding in findings where finding.kind == .localDocumentMissing {
            guard let id = finding.documentID else { continue }
            if let document = document(finding.namespace, id) { told.insert(document) }
        }
        for (document, isOfChange) in clients[number].lost where !told.contains(document) {
            if isOfChange { fail("D7 c\(number) d\(document) lost a change that nobody tells of") }
            clients[number].lost[document] = nil
        }
    }

    /// Looks at all documents of clients that lost rows: what holds no change comes again so.
    func scanForLostRows() async throws {
        for number in clients.indices {
            for document in clients[number].lost.keys.sorted() {
                try await clients[number].engine.forceScan(namespace(document))
            }
        }
    }
}
