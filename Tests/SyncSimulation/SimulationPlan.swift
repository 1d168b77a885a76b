/// What a seed means: the size of the world, which faults it has and how often, and its steps.
package struct SimulationPlan: Sendable {
    /// How a client answers conflicts.
    enum Handler: Sendable, CaseIterable { case remoteWins, localWins, merge, wild }

    /// The seed.
    package let seed: UInt64
    let documents: Int
    let hasTwoCollections: Bool
    let startsWithDocuments: Bool
    /// One for each client.
    let handlers: [Handler]
    /// How each client answers refused writes.
    let rejections: [SimulationRejections]
    /// What all clients subscribe to at first, in place of the ids; `nil` where none does.
    let firstViews: [SimulationView]?
    /// Whether every other set of subscriptions has queries that the remote refuses.
    let refusesQueries: Bool
    /// Of a hundred occasions, by fault.
    var rates: [Int]
    let batchDocuments: Int
    /// Whether the remote tells its identity.
    let tellsIdentity: Bool
    /// Bytes of documents in a request of the engine.
    let batchBytes: Int
    let changesPerRead: Int
    /// What happens, in order.
    package var steps: [SimulationStep]

    /// Draws everything from the seed.
    package init(seed: UInt64) {
        var random = SimulationRandom(seed: seed)
        self.seed = seed
        let documentsDrawn = 1 + random.below(6)
        let hasTwo = random.percent(25)
        startsWithDocuments = random.percent(50)
        let count = random.pick([1, 2, 2, 2, 3, 4])
        handlers = (0..<count).map { _ in random.pick(Handler.allCases) }
        var close = SimulationCloseQuarters(seed: seed, clients: count)
        documents = close?.documents ?? documentsDrawn
        hasTwoCollections = hasTwo && close == nil
        var later = SimulationRandom(seed: seed, stream: 2)
        var latest = SimulationRandom(seed: seed, stream: 4)
        // What came later draws from streams of its own, so that seeds stay what they were.
        let ratesDrawn = SimulationFault.allCases.map { fault in
            switch fault {
            case .otherRemote: Self.rate(fault, &later, percent: 50)
            case .lostRow, .emptiedRemote, .restoredRemote:
                Self.rate(fault, &latest, percent: 20)
            default: Self.rate(fault, &random, percent: 50)
            }
        }
        rates = close?.rates ?? ratesDrawn
        rates[SimulationFault.lostRow.rawValue] = ratesDrawn[SimulationFault.lostRow.rawValue]
        tellsIdentity = later.percent(70)
        let batchDrawn = random.pick([1, 2, 3, 500])
        batchDocuments = close?.batchDocuments ?? batchDrawn
        var sizes = SimulationRandom(seed: seed, stream: .max)
        batchBytes = sizes.pick([1, 200, 4_000_000])
        let changesDrawn = random.pick([1, 2, 5, 1000])
        changesPerRead = close?.changesPerRead ?? changesDrawn
        steps = []
        var extra = SimulationRandom(seed: seed, stream: 1)
        let isSubscribed = Self.hasSubscriptions(seed)
        var refusing = SimulationRandom(seed: seed, stream: 300_000)
        refusesQueries = isSubscribed && refusing.percent(40)
        rejections = handlers.map { _ in
            isSubscribed ? extra.pick(SimulationRejections.allCases) : .standard
        }
        let views = isSubscribed && extra.percent(70) ? Self.views(&extra) : nil
        firstViews = isSubscribed && close != nil ? SimulationView.allCases : views
        let hasClones = random.percent(15)
        let length = 10 + random.below(40)
        for number in 0..<length {
            let kind =
                close?.step() ?? Self.step(&random, documents, clients: count, hasClones)
            steps.append(SimulationStep(stream: UInt64(number + 1), kind: kind))
        }
        if isSubscribed { addSubscriptions(&extra) }
        for (number, kind) in (close?.ending() ?? []).enumerated() {
            steps.append(SimulationStep(stream: UInt64(200_000 + number), kind: kind))
        }
    }

    private static func rate(
        _ fault: SimulationFault, _ random: inout SimulationRandom, percent: Int
    ) -> Int {
        random.percent(percent) ? 1 + random.below(rateMax(fault)) : 0
    }

    private static func rateMax(_ fault: SimulationFault) -> Int {
        switch fault {
        case .killBefore, .killAfter, .historyLost, .cancel: 6
        case .diskFull, .rejected, .unknown: 5
        case .lostRequest, .lostAnswer, .lateRequest, .duplicate, .delayedEvents, .repeatedEvents,
            .mayPass:
            25
        case .otherRemote, .emptiedRemote, .restoredRemote: 40
        case .lostRow: 20
        case .interleaved: 30
        }
    }

    private static func step(
        _ random: inout SimulationRandom, _ documents: Int, clients: Int, _ hasClones: Bool
    ) -> SimulationStep.Kind {
        let client = random.below(clients)
        let document = random.below(documents)
        switch random.below(100) {
        case 0..<36:
            return .write(
                client: client, document: document, random.pick(SimulationStep.Verb.allCases))
        case 36..<66: return .pass(client: client)
        case 66..<82:
            return .foreign(
                document: document, random.pick(SimulationStep.ForeignVerb.allCases))
        case 82..<91:
            var lives: [SimulationStep.Life] = [
                .restart, .cutOff, .goOffline, .comeBack, .comeBack, .resume, .scan,
            ]
            if hasClones { lives += [.backUp, .backUp, .restore, .clone] }
            return .life(client: client, random.pick(lives))
        case 91..<93: return .sync(client: client, document: document)
        case 93..<95: return .desync(client: client, document: document)
        case 95: return .discard(client: client, document: document)
        case 96: return .loseHistory
        case 97: return .clockJump
        default: return .landLate
        }
    }

    /// What somebody does in the middle of a request.
    static func interruption(
        _ random: inout SimulationRandom, _ documents: Int, clients: Int
    ) -> SimulationStep.Kind {
        let client = random.below(clients)
        let document = random.below(documents)
        switch random.below(10) {
        case 0..<5:
            return .write(
                client: client, document: document, random.pick(SimulationStep.Verb.allCases))
        case 5..<7: return .pass(client: client)
        default:
            return .foreign(
                document: document, random.pick(SimulationStep.ForeignVerb.allCases))
        }
    }
}
