import BSONStore
import Foundation
import StitchSync
import TestProcesses

/// A device and its remote in step, with changes that wait on both sides and logs that hold some.
struct AttackWorld: Sendable {
    static let things = Namespace("app", "things")
    static let notes = Namespace("app", "notes")
    static let namespaces = [things, notes]

    /// What the device's user did and what was not sent yet.
    private static let updatedHere: Range<Int32> = 0..<20
    private static let deletedHere: Range<Int32> = 20..<30
    private static let insertedHere: Range<Int32> = 1_000..<1_005
    /// What others did at the remote that the device has not seen.
    private static let updatedThere: Range<Int32> = 40..<50
    private static let deletedThere: Range<Int32> = 50..<55
    private static let insertedThere: Range<Int32> = 2_000..<2_005

    /// What both sides changed last before all that; it is in the logs only.
    private static let logged = [100..<110, 200..<210] as [Range<Int32>]

    /// Documents by collection and `_id`, as Extended JSON.
    typealias Contents = [Namespace: [Int64: String]]

    let place: String
    private let device: Contents
    private let remote: Contents

    /// Opens one side's store.
    static func open(_ side: AttackSide, in folder: String) throws -> DocumentStore {
        // Small pages: the trees have inner pages as those of large files do.
        let options = DocumentStore.Options(
            durability: .normal,
            changeHistory: side == .remote ? .keep(changesMax: 100_000) : .asStored,
            pageBytes: 1_024)
        return try DocumentStore(at: .file("\(folder)/\(side.fileName)"), options: options)
    }

    /// Makes the files from which each mutation begins.
    static func make(in place: String) async throws -> AttackWorld {
        let folder = place + "/made"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try await putInStep(folder)
        let (device, remote) = (try open(.device, in: folder), try open(.remote, in: folder))
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: remote))
        try await change(engine, remote)
        // The stores are open still, so that their logs are there.
        try copyFiles(from: folder, to: place + "/base")
        let world = AttackWorld(
            place: place, device: try contents(of: device), remote: try contents(of: remote))
        try await engine.release()
        device.close()
        remote.close()
        return world
    }

    private static func putInStep(_ folder: String) async throws {
        let (device, remote) = (try open(.device, in: folder), try open(.remote, in: folder))
        let there = remote.collection(things)
        try there.createIndex(["n": 1])
        try await there.insertMany((150..<300).map(document))
        try await remote.collection(notes).insertMany((0..<60).map(document))
        try device.collection(things).createIndex(["n": 1])
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: remote))
        let here = engine.collection(things)
        try await here.subscribe(waitForSync: .never)
        try await engine.collection(notes).subscribe(to: ["n": ["$gte": 0]], waitForSync: .never)
        _ = try await here.insertMany((0..<150).map(document))
        try await engine.syncUntilQuiet()
        try await engine.release()
        // Closed, so that the files hold what the logs held.
        device.close()
        remote.close()
    }

    /// Changes that both sides know and that are in the logs, then changes that wait.
    private static func change(_ engine: SyncEngine, _ remote: DocumentStore) async throws {
        let (here, there) = (engine.collection(things), remote.collection(things))
        for id in 100..<110 as Range<Int32> {
            _ = try await here.updateOne(["_id": .int32(id)], ["$set": ["at": "device"]])
            _ = try await there.updateOne(["_id": .int32(id + 100)], ["$set": ["at": "remote"]])
        }
        _ = try await here.insertMany((3_000..<3_005).map(document))
        try await there.insertMany((4_000..<4_005).map(document))
        try await engine.syncUntilQuiet()
        for id in updatedHere {
            _ = try await here.updateOne(["_id": .int32(id)], ["$set": ["at": "device"]])
        }
        for id in deletedHere { _ = try await here.deleteOne(["_id": .int32(id)]) }
        _ = try await here.insertMany(insertedHere.map(document))
        for id in updatedThere {
            _ = try await there.updateOne(["_id": .int32(id)], ["$set": ["at": "remote"]])
        }
        for id in deletedThere { _ = try await there.deleteOne(["_id": .int32(id)]) }
        try await there.insertMany(insertedThere.map(document))
    }

    private static func document(_ id: Int32) -> BSONDocument {
        let text = String(repeating: "text of \(id) ", count: 2 + Int(id % 7))
        return ["_id": .int32(id), "n": .int32(id), "text": .string(text)]
    }

    private static func copyFiles(from: String, to: String) throws {
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        for side in [AttackSide.device, .remote] {
            for name in [side.fileName, side.fileName + "-wal"]
            where FileManager.default.fileExists(atPath: "\(from)/\(name)") {
                try FileManager.default.copyItem(atPath: "\(from)/\(name)", toPath: "\(to)/\(name)")
            }
        }
    }

    private static func contents(of store: DocumentStore) throws -> Contents {
        var contents: Contents = [:]
        for namespace in namespaces {
            for document in try store.collection(namespace).find().fetch() {
                let id = document["_id"]?.int64Value ?? -1
                // A device gives documents that others wrote a version, which is no change of theirs.
                let content = document.withoutVersion.extendedJSON(.canonical)
                contents[namespace, default: [:]][id] = content
            }
        }
        return contents
    }
}

// MARK: - Attacking

extension AttackWorld {
    /// Damages a copy of the files, has a child use them, and looks at the side that was not damaged.
    func attack(seed: UInt64) async throws -> AttackOutcome {
        let folder = "\(place)/\(seed)"
        try Self.copyFiles(from: place + "/base", to: folder)
        let mutation = Mutation(seed: seed)
        let told = try mutation.apply(in: folder)
        let answer = try await AttackChild.run("child", folder)
        let lost = losses(in: folder, after: mutation.side)
        try FileManager.default.removeItem(atPath: folder)
        return AttackOutcome(
            what: told, end: .init(code: answer.code), lost: lost, output: answer.output)
    }

    /// What the side that was not damaged lost.
    private func losses(in folder: String, after damaged: AttackSide) -> [String] {
        do {
            let store = try Self.open(damaged.other, in: folder)
            defer { store.close() }
            let left = try Self.contents(of: store)
            return damaged == .device ? lossesThere(left) : lossesHere(left)
        } catch {
            return ["the healthy side cannot be read: \(error)"]
        }
    }

    /// Everything is at the remote as it was, but for what the device's user changed.
    private func lossesThere(_ left: Contents) -> [String] {
        var lost: [String] = []
        for namespace in Self.namespaces {
            let (before, after) = (remote[namespace] ?? [:], left[namespace] ?? [:])
            let isChanged = { (id: Int64, ids: Range<Int32>) in
                namespace == Self.things && Int32(exactly: id).map(ids.contains) ?? false
            }
            for (id, document) in before where after[id] != document {
                if isChanged(id, Self.deletedHere) { continue }
                if after[id] != nil, isChanged(id, Self.updatedHere) { continue }
                lost.append("\(namespace) \(id) is \(after[id] ?? "gone"), was \(document)")
            }
            for (id, document) in after where before[id] == nil {
                if isChanged(id, Self.insertedHere) { continue }
                lost.append("\(namespace) \(id) is new: \(document)")
            }
        }
        return lost
    }

    /// Nothing left the device but what others deleted, and nothing changed but what others changed.
    private func lossesHere(_ left: Contents) -> [String] {
        var lost: [String] = []
        for namespace in Self.namespaces {
            let isChanged = { (id: Int64, ids: Range<Int32>) in
                namespace == Self.things && Int32(exactly: id).map(ids.contains) ?? false
            }
            for (id, document) in device[namespace] ?? [:] where left[namespace]?[id] != document {
                guard let now = left[namespace]?[id] else {
                    if isChanged(id, Self.deletedThere) { continue }
                    lost.append("\(namespace) \(id) left the device")
                    continue
                }
                if isChanged(id, Self.updatedThere) { continue }
                // A remote that lost its log gives the editions of before again.
                let isOld = now == Self.document(Int32(id)).extendedJSON(.canonical)
                if isOld, Self.logged.contains(where: { isChanged(id, $0) }) { continue }
                lost.append("\(namespace) \(id) is \(now), was \(document)")
            }
        }
        return lost.sorted()
    }
}
