#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import StitchRules
import StitchSync

/// Runs a world of devices with files beside documents, and says what was violated.
///
/// Devices write documents, attach, replace and remove files, sync, and send and load files, while
/// requests are lost, devices end at any request, time passes, and the remote removes what no document
/// refers to. Every other world has rules: each device has a user who reads and writes his own documents
/// and the shared ones. A device may swap its subscription, so that documents leave it whose files it has
/// not sent. At any time
///
/// - F1: what a device shows of a file is what was attached, byte by byte;
/// - F2: nobody gets a byte of a file whose document he may not read, nor by a reference that he copied;
///
/// and in the end, when all is well again,
///
/// - F3: the remote has each file that a document refers to, unless somebody took it out on purpose and
///   no device has it any more;
/// - F4: the remote has no other files, and each chunk once;
/// - F5: devices keep no content that no document refers to, but for a day those that the remote does not
///   take any more;
/// - F6: each device loads each file that it may read.
package struct FileSimulation: Sendable {
    private let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    /// Runs the world.
    ///
    /// - Throws: what the machine's own disk says.
    package func run() async throws -> Simulation.Outcome {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "files-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let world = try await FileWorld(seed, folder)
        try await world.run()
        await world.end()
        try FileManager.default.removeItem(atPath: folder)
        return Simulation.Outcome(violations: world.violations, lines: world.lines)
    }
}

/// A device of a world with files.
private struct FileDevice {
    let user: String
    let path: String
    let remote: FileRemote
    var store: DocumentStore
    var engine: SyncEngine

    var items: SyncCollection<BSONDocument> { engine.collection(FileWorld.namespace) }
}

/// The world of one seed.
private final class FileWorld {
    static let namespace = Namespace("app", "items")
    private static let documents: ClosedRange<Int32> = 1...4
    private static let lengths = [0, 1, 1_000, 261_120, 261_121, 600_000]
    /// The lengths of files of two and three pieces, which are rare since the checks read them often.
    private static let longLengths = [1_044_481, 2_400_000]
    private static let subscription = "all"

    private(set) var violations: [String] = []
    private(set) var lines: [String] = []

    private let folder: String
    private var random: SimulationRandom
    private let hasRules: Bool
    private let keepsLocal: Bool
    private let store: DocumentStore
    private var devices: [FileDevice] = []
    /// The contents that were attached, with their documents and devices.
    private var contents: [BSONObjectID: (bytes: [UInt8], document: Int32, device: Int)] = [:]
    /// The files that somebody took out of a document, or lost with it.
    private var dropped: Set<BSONObjectID> = []
    /// The remote's time, after so many hours.
    private var hours: Int64 = 0

    init(_ seed: UInt64, _ folder: String) async throws {
        self.folder = folder
        random = SimulationRandom(seed: seed, stream: 7)
        hasRules = seed.isMultiple(of: 2)
        keepsLocal = random.percent(50)
        store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100_000)))
        for number in 0..<3 {
            let user = "u\(number)"
            let faults = SimulationRandom(seed: seed, stream: 100 + UInt64(number))
            let path = "\(folder)/\(user).stitch"
            let remote = FileRemote(try Self.remote(store, hasRules ? user : nil), faults)
            let own = try Self.open(path, remote)
            devices.append(
                FileDevice(
                    user: user, path: path, remote: remote, store: own.0, engine: own.1))
            await configure(number)
            _ = try await devices[number].items.subscribe(
                named: Self.subscription, waitForSync: .never)
        }
    }

    private static func open(
        _ path: String, _ remote: FileRemote
    ) throws -> (DocumentStore, SyncEngine) {
        let store = try DocumentStore(at: .file(path))
        return (store, try SyncEngine(store: store, remote: remote))
    }

    /// Returns the remote as a user sees it; `nil` for the operator.
    private static func remote(_ store: DocumentStore, _ user: String?) throws -> InProcessRemote {
        guard let user else { return InProcessRemote(store: store) }
        let own: String = #"{"$or": [{"owner": "%%user.id"}, {"shared": true}]}"#
        let role =
            #"{"name": "own", "apply_when": {}, "document_filters": {"read": \#(own), "write": \#(own)}, "read": true, "write": true, "insert": true, "delete": true}"#
        let rules = try RuleSet(
            files: ["app/items/rules.json": Array(#"{"roles": [\#(role)]}"#.utf8)])
        return InProcessRemote(store: store, rules: rules, user: RuleUser(id: user))
    }

    private func configure(_ number: Int) async {
        await devices[number].items.configure(
            conflictHandler: keepsLocal ? .localWins : .remoteWins,
            attachments: number == 1 ? .withDocument : .whenAsked)
    }

    func end() async {
        for device in devices {
            await device.engine.close()
            device.store.close()
        }
        store.close()
    }

    private func fail(_ text: String) { if violations.count < 5 { violations.append(text) } }

    private func note(_ text: String) { lines.append(text) }
}

// MARK: - Acts

extension FileWorld {
    /// Runs all steps, heals the world, and checks it.
    func run() async throws {
        for _ in 0..<(20 + random.below(20)) {
            let number = random.below(devices.count)
            do {
                try await act(number)
            } catch is SyncError {
                // What a user would see: no such document, a lost connection, a device that ended.
            } catch is StoreError {}
            if devices[number].remote.isEnded { try await restart(number) }
            devices[number].remote.trouble(0)
            try await check()
            if !violations.isEmpty { return }
        }
        try await heal()
    }

    private func act(_ number: Int) async throws {
        let device = devices[number]
        let document = Int32(1 + random.below(Self.documents.count))
        let id = BSONValue.int32(document)
        let before = try references(number)
        let choice = random.below(106)
        defer { drop(before, in: number, isDelete: (40..<44).contains(choice)) }
        switch choice {
        case 0..<12:
            note("c\(number) inserts d\(document)")
            try await device.items.insertOne([
                "_id": id, "owner": .string(device.user), "shared": .bool(random.percent(60)),
                "text": "new",
            ])
        case 12..<35:
            let length = random.pick(random.percent(4) ? Self.longLengths : Self.lengths)
            let bytes = content(length)
            note("c\(number) attaches \(length) bytes to d\(document)")
            let reference = try await device.items.attach(bytes, to: id, at: "file")
            contents[reference.id] = (bytes, document, number)
        case 35..<40:
            note("c\(number) takes the file out of d\(document)")
            try await device.items.updateOne(["_id": id], ["$unset": ["file": ""]])
        case 40..<44:
            note("c\(number) deletes d\(document)")
            try await device.items.deleteOne(["_id": id])
        case 44..<52:
            note("c\(number) edits d\(document)")
            let set: BSONDocument = [
                "text": .int32(Int32(random.below(1_000))),
                "shared": .bool(!hasRules || random.percent(70)),
            ]
            try await device.items.updateOne(["_id": id], ["$set": .document(set)])
        case 52..<66:
            note("c\(number) syncs")
            _ = try await device.engine.syncNow()
        case 66..<80:
            note("c\(number) transfers")
            trouble(number)
            _ = try await device.engine.attachments.transfer()
        case 80..<86:
            note("c\(number) syncs and transfers")
            trouble(number)
            let engine = device.engine
            async let transferred = engine.attachments.transfer()
            _ = try await engine.syncNow()
            _ = try await transferred
        case 86..<92:
            guard let found = try references(number).values.flatMap(\.self).first else { return }
            note("c\(number) loads a file")
            trouble(number)
            try await device.items.file(found.reference, of: .int32(found.document)).download()
        case 92..<94:
            guard let found = try references(number).values.flatMap(\.self).first else { return }
            note("c\(number) evicts a file")
            try await device.items.file(found.reference, of: .int32(found.document)).evict()
        case 94..<96:
            note("c\(number) restarts")
            try await restart(number)
        case 96..<98:
            guard let copied = try references(number).values.flatMap(\.self).first else { return }
            note("c\(number) copies a reference to d\(document)")
            try await device.items.updateOne(
                ["_id": id], ["$set": ["copy": copied.reference.bsonValue]])
        case 100..<106:
            let most = random.pick([0, 2, Self.documents.upperBound])
            note("c\(number) swaps its subscription for documents up to d\(most)")
            try await subscribe(number, upTo: most)
        default:
            hours += Int64(1 + random.below(30))
            note("it is \(hours) hours later, and the remote removes files")
            try sweep()
        }
    }

    private func subscribe(_ number: Int, upTo most: Int32) async throws {
        _ = try await devices[number].items.subscribe(
            to: ["_id": ["$lte": .int32(most)]], named: Self.subscription, waitForSync: .never)
    }

    /// Returns bytes that differ from those of other files, and from chunk to chunk.
    private func content(_ length: Int) -> [UInt8] {
        let start = (0..<min(length, 1_009)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + start.count)
        while bytes.count < length { bytes += start }
        bytes.removeLast(bytes.count - length)
        return bytes
    }

    private func trouble(_ number: Int) {
        let store = devices[number].store
        devices[number].remote.trouble(random.pick([0, 20, 50]), end: { store.close() })
    }

    private func restart(_ number: Int) async throws {
        note("c\(number) starts again")
        let old = devices[number]
        old.store.close()
        await old.engine.close()
        (devices[number].store, devices[number].engine) = try Self.open(old.path, old.remote)
        await configure(number)
    }

    private func sweep() throws {
        let now = BSONDatetime.now.milliseconds + hours * 3_600_000
        _ = try StoredAttachments(store).sweep(now: BSONDatetime(milliseconds: now))
    }

    /// A reference in a document.
    private struct Found: Hashable {
        let document: Int32
        let reference: Attachment
    }

    /// The references that a device shows, by document.
    private func references(_ number: Int) throws -> [Int32: [Found]] {
        try Self.references(devices[number].items.find().fetch())
    }

    private static func references(_ documents: [BSONDocument]) -> [Int32: [Found]] {
        var found: [Int32: [Found]] = [:]
        for document in documents {
            guard case .int32(let id)? = document["_id"] else { continue }
            found[id] = Attachment.all(in: document).map {
                Found(document: id, reference: $0)
            }
        }
        return found
    }

    /// Notes files that a step took out of documents; a document that only left the device has its files.
    private func drop(_ before: [Int32: [Found]], in number: Int, isDelete: Bool) {
        do {
            let after = try references(number)
            let stored = Self.references(try store.collection(Self.namespace).find().fetch())
            for found in before.values.flatMap(\.self) {
                guard let left = after[found.document] else {
                    if isDelete || stored[found.document]?.contains(found) != true {
                        dropped.insert(found.reference.id)
                    }
                    continue
                }
                if !left.contains(found) { dropped.insert(found.reference.id) }
            }
        } catch {
            // The device has ended: what it shows is known after its restart.
            for found in before.values.flatMap(\.self) { dropped.insert(found.reference.id) }
        }
    }
}

// MARK: - Checks

extension FileWorld {
    /// Whether a user may read a document.
    private func mayRead(_ number: Int, _ document: BSONDocument) -> Bool {
        !hasRules || document["owner"] == .string(devices[number].user)
            || document["shared"] == true
    }

    /// F1 and F2.
    private func check() async throws {
        let remoteDocuments = try store.collection(Self.namespace).find().fetch()
        for number in devices.indices {
            let device = devices[number]
            for found in try references(number).values.flatMap(\.self) {
                let file = device.items.file(found.reference, of: .int32(found.document))
                guard try file.state() == .here else { continue }
                guard let bytes = try await bytes(of: file) else { continue }
                if bytes != contents[found.reference.id]?.bytes {
                    fail("F1 c\(number) shows another content of a file of d\(found.document)")
                }
            }
            guard hasRules,
                let files = try Self.remote(store, device.user).attachments
            else { continue }
            for (id, content) in contents {
                for document in Self.documents {
                    let place = AttachmentPlace(
                        Self.namespace, documentID: .int32(document), reference(id, content.bytes))
                    let stored = remoteDocuments.first { $0["_id"] == .int32(document) }
                    let isAllowed =
                        document == content.document
                        && stored.map { mayRead(number, $0) } ?? false
                    if !isAllowed, try await files.read(place, from: 0, count: 9) != nil {
                        fail("F2 \(device.user) reads a file of d\(content.document)")
                    }
                }
            }
        }
    }

    private func reference(_ id: BSONObjectID, _ bytes: [UInt8]) -> Attachment {
        Attachment(id: id, sha256: SHA256.hash(bytes), length: Int64(bytes.count))
    }

    private func bytes(of file: AttachmentFile) async throws -> [UInt8]? {
        do {
            return try await file.bytes()
        } catch let error as SyncError where error.code == .fileMissing {
            return nil
        }
    }

    private func heal() async throws {
        note("all is well again")
        // Half of the worlds first send what is left to send of documents that left.
        if random.percent(50) { try await settle() }
        for number in devices.indices {
            try await subscribe(number, upTo: Self.documents.upperBound)
        }
        try await settle()
        try await check()
        hours += 30
        try sweep()
        hours += 30
        try sweep()
        try await checkEnd()
    }

    private func settle() async throws {
        for round in 1...8 {
            var isQuiet = true
            for number in devices.indices {
                _ = try await devices[number].engine.syncUntilQuiet()
                let report = try await devices[number].engine.attachments.transfer()
                if report.error != nil { fail("F3 c\(number) does not reach the remote") }
                if report.sent + report.loaded > 0 { isQuiet = false }
            }
            if isQuiet && round > 3 { break }
        }
    }

    private func checkEnd() async throws {
        let stored = try store.collection(Self.namespace).find().fetch()
        let wanted = Self.references(stored)
        guard let operator_ = InProcessRemote(store: store).attachments else { return }
        var expected: [BSONObjectID: Int] = [:]
        for found in wanted.values.flatMap(\.self) {
            guard let content = contents[found.reference.id],
                content.document == found.document
            else { continue }
            let place = AttachmentPlace(
                Self.namespace, documentID: .int32(found.document), found.reference)
            let isThere = try await operator_.state(of: place) == .complete
            if isThere {
                expected[found.reference.id] = max(
                    (content.bytes.count + 261_119) / 261_120, 0)
            } else if try mustBeThere(found, stored) {
                fail("F3 the remote lacks a file of d\(found.document)")
            }
        }
        try checkBucket(expected)
        try await checkDevices(stored)
    }

    /// Whether a file that a document refers to may not be missing.
    private func mustBeThere(_ found: Found, _ stored: [BSONDocument]) throws -> Bool {
        let document = stored.first { $0["_id"] == .int32(found.document) }
        for number in devices.indices {
            guard let document, mayRead(number, document) else { continue }
            let file = devices[number].items.file(
                found.reference, of: .int32(found.document))
            switch try file.state() {
            case .here, .sending: return true
            case .atRemote, .onItsWay, .loading, .failed: continue
            }
        }
        guard let content = contents[found.reference.id] else { return false }
        // A user who lost the document before the file was sent could not send it.
        let isOwn = !hasRules || document?["owner"] == .string(devices[content.device].user)
        return isOwn && !dropped.contains(found.reference.id)
    }

    /// F4.
    private func checkBucket(_ expected: [BSONObjectID: Int]) throws {
        let files = try store.collection(Namespace("app", "attachments.files")).find().fetch()
        let chunks = try store.collection(Namespace("app", "attachments.chunks")).find().fetch()
        let ids = Set(files.compactMap { $0["_id"] })
        if ids != Set(expected.keys.map { .objectID($0) }) {
            fail("F4 the remote has \(ids.count) files, and \(expected.count) are referred to")
        }
        let count = expected.values.reduce(0, +)
        if chunks.count != count { fail("F4 the remote has \(chunks.count) chunks of \(count)") }
    }

    /// Returns the number of files that a device keeps for a day, since the remote does not take them.
    private func filesThatLeft(
        _ number: Int, _ own: [Found], _ stored: [BSONDocument]
    ) throws -> Int {
        try contents.count { id, content in
            let reference = reference(id, content.bytes)
            guard !own.contains(where: { $0.reference.id == id }),
                case .sending = try devices[number].items.file(
                    reference, of: .int32(content.document)
                ).state()
            else { return false }
            let document = stored.first { $0["_id"] == .int32(content.document) }
            if let document, mayRead(number, document),
                Attachment.all(in: document).contains(where: { $0.id == id })
            {
                fail("F3 c\(number) has not sent a file of d\(content.document), which left it")
            }
            return true
        }
    }

    /// F5 and F6.
    private func checkDevices(_ stored: [BSONDocument]) async throws {
        for number in devices.indices {
            let device = devices[number]
            let own = try references(number).values.flatMap(\.self)
            let most = Set(own.map(\.reference)).count
            let usage = try device.engine.attachments.usage()
            let kept = try filesThatLeft(number, own, stored)
            if usage.files > most + kept {
                fail("F5 c\(number) keeps \(usage.files) files, and refers to \(most)")
            }
            if try kept == 0 && device.engine.attachments.hasUnsent() {
                let ids = own.map(\.reference.id)
                if ids.allSatisfy({ contents[$0] != nil }) {
                    fail("F3 c\(number) has unsent files")
                }
            }
            for document in stored where mayRead(number, document) {
                for reference in Attachment.all(in: document) {
                    guard let content = contents[reference.id],
                        document["_id"] == .int32(content.document)
                    else { continue }
                    let file = device.items.file(reference, of: document["_id"] ?? .null)
                    guard let bytes = try await bytes(of: file) else {
                        if !dropped.contains(reference.id), !hasRules {
                            fail("F6 c\(number) cannot load a file of d\(content.document)")
                        }
                        continue
                    }
                    if bytes != content.bytes {
                        fail("F1 c\(number) loads another content of d\(content.document)")
                    }
                }
            }
        }
    }
}
