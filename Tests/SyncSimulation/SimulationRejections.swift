import BSONStore
import StitchSync

/// How a simulated client answers refused writes.
enum SimulationRejections: Sendable, CaseIterable { case standard, revert, pause, ask }

/// Answers one client's refused writes as its kind does, and has what it gives up noted.
struct SimulationRejectionHandler: Sendable {
    private struct Refusal: Error {}

    let world: SimulationWorld
    let client: Int
    let kind: SimulationRejections

    var policy: RejectionPolicy<BSONDocument> {
        switch kind {
        case .standard: .standard
        case .revert: .revert
        case .pause: .pause
        case .ask: .ask { try await answer($0) }
        }
    }

    private func answer(
        _ rejected: RejectedWrite<BSONDocument>
    ) async throws -> RejectionAnswer<BSONDocument> {
        guard let document = world.document(rejected.namespace, rejected.documentID) else {
            return .revert
        }
        let kind = world.dice.isQuiet ? 0 : world.dice.draw { $0.below(5) }
        if kind == 2 { return .keepPaused }
        if kind == 3 { throw Refusal() }
        // It says what is to become of the document, also where the document's row is lost.
        await world.noteAppKnows(client, document)
        if kind < 2 { return .revert }
        let edited = world.content(document, await world.token("r"))
        world.ledger.withLock { $0.forget(client, document) }
        return .edit(edited)
    }
}

// MARK: - The ledger

extension SimulationLedger {
    /// Whether a rejected write of a client's store holds what it wrote: nothing is lost (I1).
    func isRejected(_ write: Write) -> Bool {
        (rejected[write.client] ?? []).contains { document, rejected in
            document == write.document && Self.holds(rejected, write)
        }
    }

    private static func holds(_ rejected: RejectedWrite<BSONDocument>, _ write: Write) -> Bool {
        guard let path = write.path else { return rejected.latestDocument == nil }
        return [rejected.document, rejected.laterDocument].contains {
            $0?[path: path] == .string(write.token)
        }
    }

    /// The app let a rejected write go.
    mutating func forget(
        _ client: Int, _ document: Int, _ rejected: RejectedWrite<BSONDocument>
    ) {
        open.removeAll {
            $0.client == client && $0.document == document && Self.holds(rejected, $0)
        }
    }

    /// A document left a client's device, or its change was taken back.
    ///
    /// What the client knew of its own writes is gone, and so are the answers it was given. An
    /// earlier request of the write that was rejected may still land late, and is nobody's then.
    mutating func noteLeft(_ client: Int, _ document: Int) {
        forgetLanded(client, document)
        disown(client, document)
        forgetQuestions(client, document)
    }
}
