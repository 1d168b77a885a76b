/// One thing that happens in a simulated world, with the stream of numbers that it draws from: what
/// one step does by chance does not depend on the steps before it, so that others can be left out.
package struct SimulationStep: Sendable, CustomStringConvertible {
    /// What an app does to a document.
    enum Verb: String, Sendable, CaseIterable {
        case setA, setB, setX, setY, unsetB, same, insert, replace, delete, pipeline, upsert
    }

    /// What a tool that knows nothing of sync, or too much, does to a remote document.
    enum ForeignVerb: String, Sendable, CaseIterable {
        case unset, keep, raise, raiseFar, lower, last, malformed, remove, reinsert, whole, reorder
        case regress, otherLineage
    }

    /// What happens to a client as a whole.
    enum Life: String, Sendable, CaseIterable {
        case restart, cutOff, goOffline, comeBack, backUp, restore, clone, resume, scan
    }

    /// What happens.
    enum Kind: Sendable {
        case write(client: Int, document: Int, Verb)
        case pass(client: Int)
        case foreign(document: Int, ForeignVerb)
        case life(client: Int, Life)
        case sync(client: Int, document: Int)
        case desync(client: Int, document: Int)
        case discard(client: Int, document: Int)
        case subscribe(client: Int, [SimulationView])
        case retryRejected(client: Int)
        case discardRejected(client: Int)
        case loseHistory
        case landLate
        case clockJump
    }

    let stream: UInt64
    let kind: Kind

    /// Who does what to which document.
    package var description: String { Self.text(kind) }

    static func text(_ kind: Kind) -> String {
        switch kind {
        case .write(let client, let document, let verb): "c\(client) \(verb) d\(document)"
        case .pass(let client): "c\(client) pass"
        case .foreign(let document, let verb): "foreign \(verb) d\(document)"
        case .life(let client, let life): "c\(client) \(life)"
        case .sync(let client, let document): "c\(client) sync d\(document)"
        case .desync(let client, let document): "c\(client) desync d\(document)"
        case .discard(let client, let document): "c\(client) discard d\(document)"
        case .subscribe(let client, let views): "c\(client) subscribes to \(views)"
        case .retryRejected(let client): "c\(client) retries"
        case .discardRejected(let client): "c\(client) discards what was rejected"
        case .loseHistory: "the remote forgets its history"
        case .landLate: "late requests land"
        case .clockJump: "the clock jumps"
        }
    }
}

/// What may go wrong inside of a step.
enum SimulationFault: Int, Sendable, CaseIterable {
    case lostRequest, lostAnswer, lateRequest, duplicate, killBefore, killAfter, diskFull
    case interleaved, historyLost, delayedEvents, repeatedEvents, rejected, mayPass, unknown, cancel
    case otherRemote, lostRow, emptiedRemote, restoredRemote
}
