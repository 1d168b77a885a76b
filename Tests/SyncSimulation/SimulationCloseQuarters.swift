/// A world in which clients meet in one or two documents, requests and answers are lost or late, and
/// nothing is killed: what comes of two things at nearly the same moment comes often here.
struct SimulationCloseQuarters {
    let documents: Int
    let rates: [Int]
    let batchDocuments: Int
    let changesPerRead: Int
    let isSubscribed: Bool
    private let clients: Int
    private var random: SimulationRandom

    /// What a seed's close quarters are; `nil` for four seeds of five.
    ///
    /// They draw from a stream of their own, so that all other seeds stay what they were.
    init?(seed: UInt64, clients: Int) {
        var random = SimulationRandom(seed: seed, stream: 3)
        guard random.percent(20) else { return nil }
        documents = 1 + random.below(2)
        rates = SimulationFault.allCases.map { fault in
            switch fault {
            case .lateRequest, .lostAnswer: 10 + random.below(25)
            case .interleaved: 10 + random.below(30)
            case .mayPass, .delayedEvents: random.percent(50) ? 1 + random.below(25) : 0
            default: 0
            }
        }
        batchDocuments = random.pick([1, 2])
        changesPerRead = random.pick([1, 2, 5, 1000])
        isSubscribed = random.percent(50)
        self.clients = clients
        self.random = random
    }

    /// The next thing that happens: mostly writes and passes, and documents that are given up.
    mutating func step() -> SimulationStep.Kind {
        let client = random.below(clients)
        let document = random.below(documents)
        switch random.below(100) {
        case 0..<34:
            return .write(
                client: client, document: document, random.pick(SimulationStep.Verb.allCases))
        case 34..<70: return .pass(client: client)
        case 70..<78:
            return .foreign(
                document: document, random.pick([.keep, .raise, .remove, .whole, .unset]))
        case 78..<82: return .sync(client: client, document: document)
        case 82..<88: return .desync(client: client, document: document)
        case 88..<93: return .discard(client: client, document: document)
        case 93..<95: return .life(client: client, random.pick([.restart, .resume]))
        default: return .landLate
        }
    }

    /// What happens at the end.
    mutating func ending() -> [SimulationStep.Kind] {
        meeting() + givenUp() + givenUp()
    }

    /// Two clients make the same document, and the second gives its own up before it has seen the
    /// first's, which its queries ask for; nothing is told of that again.
    private mutating func meeting() -> [SimulationStep.Kind] {
        guard isSubscribed, clients > 1 else { return [] }
        let document = random.below(documents)
        let first = random.below(clients)
        let second = (first + 1 + random.below(clients - 1)) % clients
        let passes: [SimulationStep.Kind] = [.pass(client: first), .pass(client: second)]
        let end: SimulationStep.Kind =
            switch random.below(3) {
            case 0: .discard(client: second, document: document)
            default: .write(client: second, document: document, .delete)
            }
        return [.foreign(document: document, .remove)] + passes + passes + [
            .write(client: second, document: document, .insert),
            .write(client: first, document: document, .insert),
        ] + passes + [end]
    }

    /// A change whose request is late with some luck is given up, looked for in vain, and lands after
    /// that: only its event tells of it.
    private mutating func givenUp() -> [SimulationStep.Kind] {
        let client = random.below(clients)
        let document = random.below(documents)
        let pass = SimulationStep.Kind.pass(client: client)
        return [
            pass, .write(client: client, document: document, .setX), pass,
            .discard(client: client, document: document), pass, pass, .landLate, pass,
        ]
    }
}
