import BSONStore
import Foundation
import StitchSync

/// Uses both files as an app and its remote do, in a process of its own that may die of it.
struct Victim {
    let folder: String

    /// The code that the process ends with: 3 where an error told of damage, else 0.
    func run() async -> Int32 {
        var isRefused = false
        let steps: [(String, () async throws -> Void)] = [
            ("device", { try read(.device) }), ("remote", { try read(.remote) }),
            ("sync", { try await sync() }), ("sync again", { try await sync() }),
            ("device after", { try read(.device) }),
        ]
        for (name, step) in steps {
            do {
                try await step()
            } catch {
                isRefused = true
                print("\(name): \(error)")
            }
        }
        return isRefused ? 3 : 0
    }

    /// Reads all, counts, looks up by key and by index, and verifies.
    private func read(_ side: AttackSide) throws {
        let store = try AttackWorld.open(side, in: folder)
        defer { store.close() }
        for namespace in AttackWorld.namespaces {
            let collection = store.collection(namespace)
            let ids = try collection.find().fetch().compactMap { $0["_id"] }
            guard try collection.find().count() == ids.count else { throw Told("another count") }
            for id in ids {
                let isHere = try collection.findOne(id: id) != nil
                guard isHere else { throw Told("\(id) is not found by its key") }
                _ = try collection.find(["n": id]).fetch()
            }
        }
        let report = try store.verify()
        if let fault = report.faults.first { throw Told(fault.message) }
    }

    private func sync() async throws {
        let device = try AttackWorld.open(.device, in: folder)
        defer { device.close() }
        let remote = try AttackWorld.open(.remote, in: folder)
        defer { remote.close() }
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: remote))
        do {
            let report = try await engine.syncUntilQuiet(passesMax: 30).report
            try await engine.release()
            if let code = report.errors.first { throw Told(code.rawValue) }
            if let finding = try await engine.verify().first { throw Told("\(finding)") }
        } catch {
            try await engine.release()
            throw error
        }
    }

    /// Something that was said in another way than by an error.
    private struct Told: Error {
        let what: String

        init(_ what: String) { self.what = what }
    }
}
