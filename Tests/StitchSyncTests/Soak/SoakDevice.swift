#if Remote
    import BSONStore
    import StitchRemote
    import TestProcesses

    @testable import StitchSync

    /// A device of a soak: a store in a file, an engine, and a way to the server that cuts.
    struct SoakDevice: Sendable {
        /// How many documents a device has of its own.
        static let ownCount = 40

        let name: String
        /// The user in the words of the rules.
        let userID: String
        let engine: SyncEngine
        let proxy: CuttingProxy
        let ledger: SoakLedger

        var items: SyncCollection<BSONDocument> { engine.collection(SoakWorld.items) }

        init(
            _ name: String, user: String, port: Int, _ folder: ScratchDirectory,
            _ ledger: SoakLedger
        ) async throws {
            (self.name, self.ledger) = (name, ledger)
            userID = ":soak.\(user)"
            proxy = try CuttingProxy(to: port)
            let remote = try ServerRemote(
                "stitchsync://127.0.0.1:\(proxy.port)/soak?directConnection=true&compressors=none",
                signIn: .user(user, password: SoakWorld.password, database: "soak"))
            engine = try SyncEngine(
                store: try DocumentStore(at: .file(folder.path("\(name).stitch"))), remote: remote,
                backoff: Backoff(initial: .milliseconds(50), cap: .seconds(1)))
            await items.configure(
                conflictHandler: ConflictHandler { conflict in
                    Self.merge(conflict, by: name, ledger)
                },
                errorListener: { error, id in Self.note(error, id, name, ledger) })
        }

        /// Keeps the other devices' fields of the remote edition and this device's of the local one.
        private static func merge(
            _ conflict: Conflict<BSONDocument>, by name: String, _ ledger: SoakLedger
        ) -> ConflictResolution<BSONDocument> {
            guard let local = conflict.local, var merged = conflict.remote,
                let base = conflict.base,
                merged.contains(where: { $0.key != name && base[$0.key] != $0.value })
            else {
                ledger.surprise("\(name) was asked without cause: \(conflict)")
                return .useRemote
            }
            ledger.count { $0.conflicts += 1 }
            merged[name] = local[name]
            return .use(merged)
        }

        private static func note(
            _ error: SyncError, _ id: BSONValue?, _ name: String, _ ledger: SoakLedger
        ) {
            switch error.code {
            case .remoteUnavailable: ledger.count { $0.unreachable += 1 }
            case .compensatingWrite:
                let keys = error.compensatingWrites.map(\.primaryKey)
                ledger.count { $0.reverted += keys.count }
                for key in keys where key.stringValue?.hasPrefix("sealed") != true {
                    ledger.surprise(
                        "\(name): the allowed write of \(key) was refused: "
                            + "\(error.compensatingWrites)")
                }
            default: ledger.surprise("\(name): \(error)")
            }
        }
    }

    // MARK: - Writes

    extension SoakDevice {
        /// Makes a write that the dice choose, and notes it once the call returned.
        func write(_ dice: inout Dice, round: Int32) async throws {
            switch dice.below(10) {
            case 0: try await writeSealed(dice.below(SoakWorld.sealedCount), round)
            case 1, 2: try await writeShared(dice.below(SoakWorld.sharedCount), round)
            default: try await writeOwn(dice.below(Self.ownCount), &dice, round)
            }
        }

        /// Inserts, updates or deletes a document that only this device writes.
        private func writeOwn(_ number: Int, _ dice: inout Dice, _ round: Int32) async throws {
            let id = "\(name)-\(number)"
            let content: BSONDocument = [
                "_id": .string(id), "owner": .string(userID), "round": .int32(round),
                "text": SyncWorld.bytes(dice.below(2_000)),
            ]
            switch (ledger.own[id] ?? nil, dice.below(4)) {
            case (nil, _):
                try await items.insertOne(content)
                ledger.count { $0.inserts += 1 }
            case (_?, 0):
                try await items.deleteOne(["_id": .string(id)])
                ledger.count { $0.deletes += 1 }
                return ledger.note(id, nil)
            case (_?, _):
                try await items.updateOne(
                    ["_id": .string(id)],
                    ["$set": ["round": .int32(round), "text": content["text"] ?? .null]])
                ledger.count { $0.updates += 1 }
            }
            ledger.note(id, content)
        }

        /// Changes this device's field of a document that all devices change.
        private func writeShared(_ number: Int, _ round: Int32) async throws {
            let id = "shared-\(number)"
            let result = try await items.updateOne(
                ["_id": .string(id)], ["$set": [name: .int32(round)]])
            guard result.matchedCount == 1 else { return ledger.surprise("\(name) lacks \(id)") }
            ledger.count { $0.updates += 1 }
            ledger.note(id, round, by: name)
        }

        /// Changes a document that the rules let nobody change.
        private func writeSealed(_ number: Int, _ round: Int32) async throws {
            try await items.updateOne(
                ["_id": .string("sealed-\(number)")], ["$set": ["by": .int32(round)]])
            ledger.count { $0.forbidden += 1 }
        }
    }
#endif
