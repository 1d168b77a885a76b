import BSONStore
import StitchSync

/// Answers one client's conflicts as its kind does, and has each question noted.
struct SimulationHandler: Sendable {
    /// What a handler of no principles does.
    private enum Whim: CaseIterable {
        case useLocal, useRemote, both, fresh, delete, fail, hang, write, otherID
    }

    private struct Refusal: Error {}

    let world: SimulationWorld
    let client: Int
    let kind: SimulationPlan.Handler

    var handler: ConflictHandler<BSONDocument> {
        switch kind {
        case .remoteWins: ConflictHandler(immediate: { note($0, .useRemote) })
        // The library's own gives nothing up that the ledger would have to know of, and its answer is
        // carried out in the transaction that finds the conflict.
        case .localWins where client.isMultiple(of: 2): .localWins
        case .localWins: ConflictHandler(immediate: { note($0, .useLocal) })
        case .merge:
            ConflictHandler(immediate: { conflict in
                guard let local = conflict.local, let remote = conflict.remote else {
                    return note(conflict, conflict.local == nil ? .useRemote : .useLocal)
                }
                let merged = ThreeWayMerge().merge(
                    base: conflict.base, local: local, remote: remote)
                return note(conflict, .use(merged.document))
            })
        case .wild:
            ConflictHandler { conflict in
                guard !world.dice.isQuiet else { return note(conflict, .useRemote) }
                return try await resolve(
                    conflict, world.dice.draw { $0.pick(Whim.allCases) })
            }
        }
    }

    private func resolve(
        _ conflict: Conflict<BSONDocument>, _ whim: Whim
    ) async throws -> ConflictResolution<BSONDocument> {
        world.dice.note("    c\(client) answers: \(whim)")
        switch whim {
        case .useLocal: return note(conflict, .useLocal)
        case .useRemote: return note(conflict, .useRemote)
        case .both:
            guard let local = conflict.local, let remote = conflict.remote else {
                return note(conflict, .useLocal)
            }
            var both = remote
            for (key, value) in local { both[key] = value }
            return note(conflict, .use(both))
        case .fresh:
            let document = world.document(conflict.namespace, conflict.documentID)
            return note(conflict, .use(world.content(document ?? 0, await world.token("h"))))
        case .delete: return note(conflict, .delete)
        case .fail:
            note(conflict, answer: nil)
            throw Refusal()
        case .hang:
            note(conflict, answer: nil)
            world.clock.wakeOne()
            await world.clock.waitForCancellation()
            return .useRemote
        case .write:
            guard let document = world.document(conflict.namespace, conflict.documentID) else {
                return .useLocal
            }
            note(conflict, answer: nil)
            await world.act(.write(client: client, document: document, .setA))
            return .useLocal
        case .otherID:
            note(conflict, answer: nil)
            return .use(["_id": "another"])
        }
    }

    private func note(
        _ conflict: Conflict<BSONDocument>, _ answer: ConflictResolution<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        switch answer {
        case .useLocal: note(conflict, answer: conflict.local)
        case .useRemote: note(conflict, answer: conflict.remote)
        case .use(let document): note(conflict, answer: document)
        case .delete: note(conflict, answer: .some(nil))
        }
        return answer
    }

    private func note(_ conflict: Conflict<BSONDocument>, answer: BSONDocument??) {
        guard let document = world.document(conflict.namespace, conflict.documentID) else {
            return world.fail("a conflict of no document that there is")
        }
        world.dice.note("    c\(client) is asked about d\(document)")
        world.ledger.withLock { $0.note(client, document, conflict, answer: answer) }
    }
}
