#if Remote
    import BSONStore
    import Foundation
    import StitchRemote
    import TestProcesses
    import Testing

    @testable import StitchSync

    /// Devices of two users that write while their connections are cut and their servers are killed.
    final class SoakWorld {
        static let items = Namespace("soak", "items")
        static let password = "a long password"
        static let sharedCount = 6
        static let sealedCount = 4
        /// The time between two kills.
        private static let killEvery: Duration = .seconds(4)
        /// The longest wait for a device, beside other tests on a busy machine.
        private static let patience: Duration = .seconds(300)

        /// Everyone reads and changes what is everyone's, and the rest is its owner's.
        private static let roles = """
            {"database": "soak", "collection": "items", "roles": [{
              "name": "own and shared", "apply_when": {},
              "document_filters": {
                "read": {"$or": [{"owner": "%%user.id"}, {"owner": "all"}]},
                "write": {"$or": [{"owner": "%%user.id"}, {"owner": "all", "sealed": false}]}},
              "read": true, "write": true}]}
            """

        let ledger = SoakLedger()
        private let folder: ScratchDirectory
        private let servers: any SoakServers
        private let devices: [SoakDevice]
        private var dice: Dice

        /// - Parameter start: starts the servers with a folder of rules.
        init(
            seed: UInt64, _ start: (_ rules: String) throws -> any SoakServers
        ) async throws {
            dice = Dice(seed: seed)
            folder = try ScratchDirectory()
            let rules = folder.path("data_sources/mongodb-atlas/soak/items")
            try FileManager.default.createDirectory(
                atPath: rules, withIntermediateDirectories: true)
            try Self.roles.write(
                toFile: rules + "/rules.json", atomically: true, encoding: .utf8)
            servers = try start(folder.path(""))
            for user in ["ann", "bob"] {
                try await ServerRemote.register(
                    user, password: Self.password,
                    // Beside many other tests a server may be slow to answer.
                    at: "stitchsync://127.0.0.1:\(servers.ports[0])/soak"
                        + "?serverSelectionTimeoutMS=120000")
            }
            try Self.seed(servers.documents)
            var devices: [SoakDevice] = []
            for (name, user) in [("a1", "ann"), ("a2", "ann"), ("b1", "bob"), ("b2", "bob")] {
                let port = servers.ports[devices.count % servers.ports.count]
                devices.append(
                    try await SoakDevice(name, user: user, port: port, folder, ledger))
            }
            self.devices = devices
        }

        deinit {
            for device in devices {
                device.proxy.close()
                device.engine.store.close()
            }
        }

        private static func seed(_ documents: DocumentStore) throws {
            try documents.write { transaction in
                for number in 0..<sharedCount {
                    try transaction.insert(items, everyones("shared-\(number)", isSealed: false))
                }
                for number in 0..<sealedCount {
                    try transaction.insert(items, everyones("sealed-\(number)", isSealed: true))
                }
            }
        }

        /// A document of everyone's, before any device changes it.
        private static func everyones(_ id: String, isSealed: Bool) -> BSONDocument {
            ["_id": .string(id), "owner": "all", "sealed": .bool(isSealed)]
        }

        /// Lets the devices write for some time, and on a busy machine until all that it is about has
        /// happened; then compares them with the server.
        func run(for time: Duration) async throws {
            for device in devices { try await device.items.subscribe(named: "all") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for device in devices { group.addTask { try await device.engine.run() } }
                defer { group.cancelAll() }
                let start = ContinuousClock.now
                var (kills, round) = (0, Int32(0))
                while .now - start < time || !ledger.tally.isComplete {
                    round += 1
                    try await play(round)
                    ledger.count { $0.cuts = devices.reduce(0) { $0 + $1.proxy.lossCount } }
                    guard .now - start > Self.killEvery * (kills + 1) else { continue }
                    kills += 1
                    try killServers()
                }
                for device in devices {
                    device.engine.setOnline(true)
                    device.proxy.delayAnswers(milliseconds: 0)
                }
                // The first round takes each device's writes up, the second one those of others down.
                for device in devices + devices {
                    try await device.engine.waitForSynchronization(timeout: Self.patience)
                }
            }
            try await check()
        }

        /// One device writes, one way is disturbed, and at times a device is waited for.
        private func play(_ round: Int32) async throws {
            let device = devices[dice.below(devices.count)]
            for _ in 0...dice.below(4) { try await device.write(&dice, round: round) }
            disturb(devices[dice.below(devices.count)])
            let awaited = devices[dice.below(devices.count)].engine
            if dice.below(2) == 0, awaited.isOnline {
                try await awaited.waitForUpload(timeout: Self.patience)
            }
        }

        private func disturb(_ device: SoakDevice) {
            switch dice.below(12) {
            case 0, 1: device.proxy.cut(afterBytes: dice.below(20_000))
            case 2: device.proxy.lose(.answer, of: "bulkWrite")
            case 3: device.proxy.lose(.answerAfter(dice.below(40)), of: "bulkWrite")
            case 4: device.proxy.lose(.request, of: "getMore")
            case 5: device.proxy.delayAnswers(milliseconds: Int32(dice.below(20)))
            case 6: device.engine.setOnline(false)
            default: device.engine.setOnline(true)
            }
        }

        /// Kills servers; then each device connects to any of those that there are.
        private func killServers() throws {
            try servers.killAndRestart(&dice)
            let ports = servers.ports
            for device in devices { device.proxy.redirect(to: ports[dice.below(ports.count)]) }
            ledger.count { $0.kills += 1 }
        }
    }

    // MARK: - The end

    extension SoakWorld {
        /// Checks that the server has each acknowledged write, and each device what it may see.
        private func check() async throws {
            let expected = expected()
            let stored = try servers.documents.collection(Self.items).find().fetch()
            #expect(
                Set(stored.map(\.withoutVersion.sortedByKey)) == Set(expected),
                "the documents of the server")
            for device in devices {
                let visible = expected.filter {
                    ["all", .string(device.userID)].contains($0["owner"])
                }
                let held = try device.items.find().fetch()
                #expect(
                    Set(held.map(\.sortedByKey)) == Set(visible),
                    "the documents of \(device.name)")
                let status = try await device.items.status()
                #expect(status.pending + status.paused + status.unexplained == 0, "\(status)")
                #expect(try await device.engine.verify() == [], "the structure of \(device.name)")
            }
        }

        /// The documents after all acknowledged writes.
        private func expected() -> [BSONDocument] {
            let (shared, own) = (ledger.shared, ledger.own)
            var documents = own.values.compactMap(\.self)
            for number in 0..<Self.sealedCount {
                documents.append(Self.everyones("sealed-\(number)", isSealed: true))
            }
            for number in 0..<Self.sharedCount {
                let id = "shared-\(number)"
                var document = Self.everyones(id, isSealed: false)
                for (device, value) in shared[id] ?? [:] { document[device] = .int32(value) }
                documents.append(document)
            }
            return documents.map(\.sortedByKey)
        }
    }

    extension BSONDocument {
        /// The fields in the order of their names, since merged fields come in any order.
        var sortedByKey: BSONDocument {
            var result: BSONDocument = [:]
            for (key, value) in sorted(by: { $0.key < $1.key }) { result[key] = value }
            return result
        }
    }
#endif
