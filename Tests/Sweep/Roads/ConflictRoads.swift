import BSONStore
import StitchSync

extension SweptDevice {
    /// Gives a document one of the unique values.
    fileprivate func move(_ number: Int, to slot: Int) async throws {
        try await items.updateOne(["_id": .int(number)], ["$set": ["slot": .int(slot)]])
    }
}

/// Conflicts, by their number and by the size of their documents.
enum ConflictRoads {
    private static func conflicts(
        _ name: String, upTo: Int = 2_000,
        _ handler: @escaping @Sendable () -> ConflictHandler<BSONDocument>
    ) -> Road {
        Road(once: "conflict: \(name)", .conflicts, upTo: upTo) { n in
            let device = try await SyncRoads.inStep(n)
            await device.items.configure(conflictHandler: handler())
            try await device.items.updateMany([:], ["$set": ["mine": 1, "both": 1]])
            try await device.changeRemote(
                [:], ["$set": ["theirs": 1, "both": 2], "$inc": ["__stitch_sync_version.v": 1]])
            return Trip(end: { try await device.end(count: n) }) {
                let report = try await device.sync()
                guard report.conflicts == n else { throw SweptFailure("\(report)") }
            }
        }
    }

    /// One conflict of a document with n parts.
    private static func large(
        _ name: String, _ growth: Road.Growth, _ merge: ThreeWayMerge = ThreeWayMerge(),
        upTo: Int = 8_000, _ document: @escaping (Int) -> BSONDocument,
        mine: @escaping (Int) -> BSONDocument, theirs: @escaping (Int) -> BSONDocument
    ) -> Road {
        Road(once: "conflict: \(name)", growth, upTo: upTo) { n in
            let device = try await SyncRoads.inStep(0)
            await device.items.configure(conflictHandler: .mergeFields(merge))
            try await device.items.insertOne(document(n))
            try await device.sync()
            try await device.items.replaceOne(["_id": 1], mine(n))
            let remote = device.remote.collection(Sample.namespace)
            guard var version = try remote.findOne(id: 1)?[DocumentVersion.fieldName]?.documentValue
            else { throw SweptFailure("no version at the remote") }
            version["v"] = .int64((version["v"]?.int64Value ?? 0) + 1)
            var other = theirs(n)
            other.append(DocumentVersion.fieldName, .document(version))
            try await remote.replaceOne(["_id": 1], other)
            return Trip(end: { try await device.end(count: 1) }) {
                let report = try await device.sync()
                guard report.conflicts == 1 else { throw SweptFailure("\(report)") }
            }
        }
    }

    /// The roads.
    static var all: [Road] {
        [
            conflicts("remoteWins") { .remoteWins },
            conflicts("localWins") { .localWins },
            conflicts("mergeFields") { .mergeFields() },
            conflicts("mergeFields with a closure") {
                .mergeFields { document, _ in document["decided"] = true }
            },
            conflicts("newest") { .newest(by: "both") },
            conflicts("a handler of one's own") {
                ConflictHandler { conflict in conflict.local.map { .use($0) } ?? .useRemote }
            },
            Road(once: "conflict: an edit here, deleted there", .conflicts, upTo: 2_000) { n in
                let device = try await SyncRoads.inStep(n)
                await device.items.configure(conflictHandler: .editWins)
                try await device.items.updateMany([:], ["$set": ["x": 1]])
                _ = try await device.remote.collection(Sample.namespace).deleteMany([:])
                return Trip(end: { try await device.end(count: n) }) { try await device.sync() }
            },
            large("mergeFields of many fields", .fields) {
                Sample.wide($0)
            } mine: { n in
                Sample.wide(n) { .int($0 < n / 2 ? -1 : $0) }
            } theirs: { n in
                Sample.wide(n) { .int($0 < n / 2 ? $0 : -2) }
            },
            large("mergeFields of arrays", .elements, ThreeWayMerge(arrays: ["a"])) {
                ["_id": 1, "a": Sample.array($0)]
            } mine: {
                ["_id": 1, "a": Sample.array(2 * $0)]
            } theirs: {
                ["_id": 1, "a": Sample.array($0 / 2)]
            },
            large("mergeFields of arrays by id", .elements, ThreeWayMerge(arraysByID: ["a"])) {
                elements($0) { _ in [:] }
            } mine: {
                elements($0) { ["mine": .int($0)] }
            } theirs: {
                elements($0) { ["theirs": .int($0)] }
            },
            Road(
                once: "conflict: unique values that documents exchange", .documents, upTo: 1_000
            ) { n in
                let device = try await SyncRoads.inStep(2 * n)
                let remote = device.remote.collection(Sample.namespace)
                try remote.createIndex(["slot": 1], ["unique": true, "sparse": true])
                for number in 0..<2 * n { try await device.move(number, to: number) }
                try await device.sync()
                for number in 0..<2 * n { try await device.move(number, to: number ^ 1) }
                return Trip(end: { try await device.end(count: 2 * n) }) {
                    try await device.sync()
                    let pending = try await device.items.pendingIDs.count
                    guard pending == 0 else { throw SweptFailure("\(pending) are pending") }
                }
            },
        ]
    }

    private static func elements(
        _ count: Int, _ field: (Int) -> BSONDocument
    ) -> BSONDocument {
        let elements = (0..<count).map { number -> BSONValue in
            var element: BSONDocument = ["id": .int(number)]
            for (key, value) in field(number) { element.append(key, value) }
            return .document(element)
        }
        return ["_id": 1, "a": .array(BSONArray(elements))]
    }
}
