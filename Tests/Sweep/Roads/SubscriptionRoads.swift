import BSONStore
import StitchSync

/// Subscriptions: what comes, what goes and what they cost by themselves.
enum SubscriptionRoads {
    private static func filled(
        _ name: String, _ growth: Road.Growth = .documents, from: Int = 100, upTo: Int = 4_000,
        reason: String? = nil, _ prepare: @escaping (SweptDevice, Int) async throws -> Void,
        count: @escaping (Int) -> Int?,
        _ run: @escaping (SweptDevice, Int) async throws -> Void
    ) -> Road {
        Road(once: "subscription: \(name)", growth, from: from, upTo: upTo, reason: reason) { n in
            let device = try await SweptDevice()
            try device.fillRemote(n)
            try await prepare(device, n)
            return Trip(end: { try await device.end(count: count(n)) }) {
                try await run(device, n)
            }
        }
    }

    /// Subscribes to each document by a subscription of its own.
    private static func subscribeToEach(_ device: SweptDevice, _ count: Int) async throws {
        for number in 0..<count {
            try await device.items.subscribe(
                to: ["_id": .int(number)], named: "\(number)", waitForSync: .never)
        }
    }

    /// Subscribes to each document in one set.
    private static func subscribeToAll(_ device: SweptDevice, _ count: Int) async throws {
        let items = device.items
        try await device.engine.subscriptions.update { changes in
            for number in 0..<count {
                try changes.append(name: "\(number)", in: items, where: ["_id": .int(number)])
            }
        }
    }

    /// A second collection.
    private static let others = Namespace(Sample.namespace.database, "others")

    /// Subscribes in one set to each document of two collections, in turn.
    private static func subscribeInTurn(_ device: SweptDevice, _ count: Int) async throws {
        let (items, others) = (device.items, device.engine.collection(Self.others))
        await others.configure(conflictHandler: .remoteWins)
        try await device.engine.subscriptions.update { changes in
            for number in 0..<count {
                try changes.append(in: items, where: ["_id": .int(number)])
                try changes.append(in: others, where: ["_id": .int(number)])
            }
        }
    }

    /// The roads.
    static var all: [Road] { documents + sets }

    private static var documents: [Road] {
        [
            filled("first download", from: 400, upTo: 8_000) { device, _ in
                try await device.items.subscribe(waitForSync: .never)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("first download of half", from: 400, upTo: 8_000) { device, _ in
                try await device.items.subscribe(to: ["half": 1], waitForSync: .never)
            } count: {
                $0 / 2
            } _: { device, _ in
                try await device.sync()
            },
            filled("a second query of half of them", from: 400, upTo: 8_000) { device, _ in
                try await device.items.subscribe(waitForSync: .never)
                try await device.sync()
                try await device.items.subscribe(to: ["half": 1], waitForSync: .never)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("widened to twice as many", from: 400, upTo: 8_000) { device, n in
                try await device.items.subscribe(
                    to: ["n": ["$lt": .int(n / 2)]], named: "a", waitForSync: .never)
                try await device.sync()
                try await widen(device, to: ["n": ["$lt": .int(n)]])
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("widened to nothing more", from: 400, upTo: 8_000) { device, n in
                try await device.items.subscribe(
                    to: ["n": ["$lt": .int(n)]], named: "a", waitForSync: .never)
                try await device.sync()
                try await widen(device, to: ["n": ["$lt": .int(2 * n)]])
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("narrowed to half") { device, n in
                try await device.items.subscribe(
                    to: ["n": ["$lt": .int(n)]], named: "a", waitForSync: .never)
                try await device.sync()
                try await widen(device, to: ["n": ["$lt": .int(n / 2)]])
            } count: {
                $0 / 2
            } _: { device, _ in
                try await device.sync()
            },
            filled("unsubscribed") { device, _ in
                try await device.items.subscribe(named: "a", waitForSync: .never)
                try await device.sync()
                try await device.engine.subscriptions.remove(
                    named: "a", waitForSync: .never)
            } count: { _ in
                0
            } _: { device, _ in
                try await device.sync()
            },
            filled("documents that leave by a change here", .changes) { device, _ in
                try await device.items.subscribe(to: ["gone": nil], waitForSync: .never)
                try await device.sync()
                try await device.items.updateMany([:], ["$set": ["gone": 1]])
            } count: { _ in
                nil
            } _: { device, _ in
                try await device.sync()
            },
            filled("documents that leave by a change there", .changes) { device, _ in
                try await device.items.subscribe(to: ["gone": nil], waitForSync: .never)
                try await device.sync()
                try await device.changeRemote(
                    [:], ["$set": ["gone": 1], "$inc": ["__stitch_sync_version.v": 1]])
            } count: { _ in
                0
            } _: { device, _ in
                try await device.sync()
            },
            filled("first download beside local inserts") { device, n in
                try await device.items.insertMany(
                    (0..<n).map { ["_id": .string("mine\($0)")] })
                try await device.items.subscribe(waitForSync: .never)
            } count: {
                2 * $0
            } _: { device, _ in
                try await device.sync()
            },
        ]
    }

    private static func widen(_ device: SweptDevice, to filter: BSONDocument) async throws {
        let query = try SubscriptionQuery(device.items.find(filter))
        try await device.engine.subscriptions.update { try $0.update(named: "a", to: query) }
    }

    private static var sets: [Road] {
        [
            filled(
                "subscribe to each document", .subscriptions, from: 25, upTo: 800,
                reason: "each of the n sets is a value of its own with all queries of that moment"
            ) { _, _ in
            } count: { _ in
                nil
            } _: { device, n in
                try await subscribeToEach(device, n)
            },
            filled("each document subscribed, download", .subscriptions, from: 25, upTo: 800) {
                device, n in
                try await subscribeToEach(device, n)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("each document subscribed in one set", .subscriptions, from: 25, upTo: 1_600) {
                _, _ in
            } count: { _ in
                nil
            } _: { device, n in
                try await subscribeToAll(device, n)
            },
            filled("one set of many, download", .subscriptions, from: 25, upTo: 1_600) {
                device, n in
                try await subscribeToAll(device, n)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("two collections in turn, download", .subscriptions, from: 25, upTo: 1_600) {
                device, n in
                try device.fillRemote(0..<n, in: others)
                try await subscribeInTurn(device, n)
            } count: {
                $0
            } _: { device, n in
                try await device.sync()
                let found = try device.engine.collection(others).find().count()
                if found != n { throw SweptFailure("\(found) others, not \(n)") }
            },
            filled(
                "each subscribed and synced in turn", .subscriptions, from: 10, upTo: 160,
                reason: "each of the n sets is a value of its own with all queries of that moment"
            ) { _, _ in
            } count: {
                $0
            } _: { device, n in
                for number in 0..<n {
                    try await device.items.subscribe(
                        to: ["_id": .int(number)], named: "\(number)", waitForSync: .never)
                    try await device.sync()
                }
            },
            filled("an idle pass of many", .subscriptions, from: 25, upTo: 1_600) { device, n in
                try await subscribeToAll(device, n)
                try await device.sync()
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("a change at the remote under many", .subscriptions, from: 25, upTo: 1_600) {
                device, n in
                try await subscribeToAll(device, n)
                try await device.sync()
                try await device.changeRemote(
                    ["_id": 1], ["$set": ["x": 1], "$inc": ["__stitch_sync_version.v": 1]])
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("local writes under many", .subscriptions, from: 25, upTo: 1_600) { device, n in
                try await subscribeToAll(device, n)
                try await device.sync()
            } count: {
                $0
            } _: { device, _ in
                for number in 0..<10 {
                    try await device.items.updateOne(["_id": .int(number)], ["$set": ["x": 1]])
                }
            },
            filled("one more under many, download", .subscriptions, from: 25, upTo: 800) {
                device, n in
                try await subscribeToAll(device, n)
                try await device.sync()
                try await device.items.subscribe(
                    to: ["half": 1], named: "half", waitForSync: .never)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("removeAll", .subscriptions, from: 25, upTo: 800) { device, n in
                try await subscribeToAll(device, n)
                try await device.sync()
            } count: { _ in
                0
            } _: { device, _ in
                try await device.engine.subscriptions.removeAll(waitForSync: .never)
                try await device.sync()
            },
            filled("a query of many values", .values, upTo: 4_000) { device, n in
                try await device.items.subscribe(
                    to: ["_id": ["$in": Sample.array(n)]], waitForSync: .never)
            } count: {
                $0
            } _: { device, _ in
                try await device.sync()
            },
            filled("state read under many", .subscriptions, from: 25, upTo: 1_600) { device, n in
                try await subscribeToAll(device, n)
            } count: { _ in
                nil
            } _: { device, _ in
                for _ in 0..<20 { _ = try device.engine.subscriptions.state }
            },
        ]
    }
}
