import BSONStore
import StitchSync

/// The comparison of the stores after the demo, which also looks for each edit.
struct StoreComparison {
    /// The number of documents on each device and the remote.
    struct Counts: Sendable, Equatable {
        let a: Int
        let b: Int
        let remote: Int
    }

    /// The number of documents on each side.
    let counts: Counts
    /// The differences, at most ``faultsMax`` sentences.
    let faults: [String]

    private static let faultsMax = 20

    /// Compares the three stores with the plan in one run, in constant memory.
    init(_ files: DemoFiles) throws {
        let paths = DemoPlan.Device.allCases.map(files.store) + [files.remote]
        let stores = try paths.map {
            try DocumentStore(at: .file($0), options: .init(readOnly: true))
        }
        defer { for store in stores { store.close() } }
        let found = try stores[0].read { a in
            try stores[1].read { b in
                try stores[2].read { remote in
                    try Self.compare(a, b, remote, plan: files.plan)
                }
            }
        }
        (counts, faults) = found
    }

    private static func compare(
        _ a: ReadTransaction, _ b: ReadTransaction, _ remote: ReadTransaction, plan: String
    ) throws -> (Counts, [String]) {
        let namespace = DemoFiles.namespace
        let counts = Counts(
            a: try a.count(namespace), b: try b.count(namespace),
            remote: try remote.count(namespace))
        var faults: [String] = []
        if counts.a != counts.remote || counts.b != counts.remote {
            faults.append("the numbers of documents differ")
        }
        try remote.forEach(namespace) { document in
            guard faults.count < faultsMax else { return }
            let id = document["_id"] ?? .null
            for (name, side) in [("A", a), ("B", b)] {
                let other = try side.get(namespace, id: id)
                faults += difference(document, other, name).map { "\(text(id)): \($0)" }
            }
        }
        try eachPlanned(plan) { place, id in
            guard faults.count < faultsMax else { return }
            let document = try remote.get(namespace, id: id)
            faults += lostEdits(of: document, at: place).map { "\(text(id)): \($0)" }
        }
        return (counts, faults)
    }

    private static func difference(
        _ document: BSONDocument, _ other: BSONDocument?, _ name: String
    ) -> [String] {
        guard let other else { return ["\(name) does not have it"] }
        let found = DocumentDifference.first(
            document, other, ignoring: [DocumentVersion.fieldName])
        return found.map { ["\(name) and the remote: \($0)"] } ?? []
    }

    /// Returns the edits that are missing in the document.
    static func lostEdits(of document: BSONDocument?, at place: Int) -> [String] {
        guard let document else {
            return DemoPlan.survives(at: place) ? ["it was edited and is gone"] : []
        }
        guard DemoPlan.survives(at: place) else { return ["both deleted it and it is there"] }
        return DemoPlan.Device.allCases.compactMap { device in
            guard case .update = DemoPlan.action(of: device, on: document, at: place) else {
                return nil
            }
            let mark = document[path: "\(DemoPlan.markField).\(device.mark)"]
            return mark == .int64(Int64(place)) ? nil : "the edit of \(device.rawValue) is lost"
        }
    }

    private static func eachPlanned(
        _ plan: String, _ body: (Int, BSONValue) throws -> Void
    ) throws {
        var reader = try PlanReader(plan)
        defer { reader.close() }
        while let (place, id) = try reader.next() { try body(place, id) }
    }

    private static func text(_ id: BSONValue) -> String { id.extendedJSON(.relaxed) }
}
