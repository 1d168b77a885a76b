import BSONStore
import BenchmarkBaseline
import Foundation

/// The rows of a store of a million documents, against the same of ten thousand.
final class ScaleRows {
    private static let many = 1_000_000
    private static let few = 10_000
    private let folder = StoreFolder()
    private lazy var large = Filled(folder, Self.many)
    private lazy var small = Filled(folder, Self.few)

    /// One store with an index on `n`.
    private final class Filled {
        let documents: StoreDocuments
        let path: String
        let store: DocumentStore
        let collection: DocumentCollection<BSONDocument>
        var next = 0
        var inserted = 0

        init(_ folder: StoreFolder, _ count: Int) {
            documents = StoreDocuments(count: count)
            path = folder.file()
            let path = path
            // Room for all pages: what is compared is the work, not the reading of files.
            store = must {
                try DocumentStore(
                    at: .file(path), options: .init(durability: .normal, cacheKiB: 1_048_576))
            }
            collection = store.collection(StorePair.namespace)
            must {
                _ = try collection.createIndex(["n": 1])
                _ = try collection.insertMany(documents.documents)
            }
            get(count)
            range(count / 100)
        }

        /// The number of a document, another one each time.
        func place() -> Int {
            defer { next += 1 }
            return Int(documents.order[next % documents.order.count])
        }

        func get(_ count: Int) {
            for _ in 0..<count {
                let id = documents.ids[place()]
                let found = must { try collection.findOne(id: id) }
                baseline_keep(UInt64(truncatingIfNeeded: found?.byteCount ?? 0))
            }
        }

        func range(_ count: Int) {
            for _ in 0..<count {
                let from = Int32(place() % (documents.order.count - 100))
                let found = must {
                    try collection.find(["n": ["$gte": .int32(from), "$lt": .int32(from + 100)]])
                        .fetch()
                }
                precondition(found.count == 100, "The range is there")
                baseline_keep(UInt64(found.count))
            }
        }

        /// A range of ids, which have the order in which the documents came.
        func rangeOfIDs(_ count: Int) {
            for _ in 0..<count {
                let from = place() % (documents.order.count - 100)
                let bounds: BSONDocument = [
                    "$gte": documents.ids[from], "$lt": documents.ids[from + 100],
                ]
                let found = must { try collection.find(["_id": .document(bounds)]).fetch() }
                precondition(found.count == 100, "The range is there")
                baseline_keep(UInt64(found.count))
            }
        }

        func insert(_ count: Int) {
            for _ in 0..<count {
                inserted += 1
                var document: BSONDocument = ["_id": .string("new \(inserted)")]
                for (key, value) in documents.documents[place()] where key != "_id" {
                    document.append(key, value)
                }
                must { _ = try collection.insertOne(document) }
            }
        }
    }

    func rows() -> [Row] {
        [
            row("get by id", 5_000) { $0.get($1) },
            row("range of 100 ids, in the order of their insertion", 200) { $0.rangeOfIDs($1) },
            row("index range of 100, scattered", 200) { $0.range($1) },
            row("insertOne, own commit", 1_000) { $0.insert($1) },
        ]
    }

    private func row(_ name: String, _ count: Int, _ work: @escaping (Filled, Int) -> Void) -> Row {
        Row(
            name: "store: \(name), 1 M against 10 k", gate: 2, goal: 1.3,
            baseline: { [unowned self] in work(small, $0) },
            ours: { [unowned self] in work(large, $0) }, count: count)
    }

    func limits() -> [LimitRow] {
        [
            LimitRow(name: "store: open 1 M and read one", unit: "ms", limit: 100) {
                [unowned self] in
                let (path, id) = (large.path, large.documents.ids[500_000])
                let start = ContinuousClock.now
                let store = must { try DocumentStore(at: .file(path)) }
                let found = must { try store.collection(StorePair.namespace).findOne(id: id) }
                precondition(found != nil, "The document is there")
                return (ContinuousClock.now - start) / .milliseconds(1)
            },
            // The page cache's limit, 64 MiB, and a little.
            LimitRow(name: "store: memory of a scan of 1 M", unit: "MiB", limit: 72) {
                [unowned self] in
                let path = large.path
                return ProcessMemory.growth {
                    let store = must { try DocumentStore(at: .file(path)) }
                    var count = 0
                    must {
                        try store.read { transaction in
                            try transaction.forEach(StorePair.namespace) { _ in count += 1 }
                        }
                    }
                    precondition(count >= Self.many, "All documents are there")
                }
            },
        ]
    }

    /// Removes the files.
    func remove() { folder.remove() }
}

/// Bounds a figure that has no baseline.
struct LimitRow {
    /// What is measured.
    let name: String
    let unit: String
    /// The highest figure that passes.
    let limit: Double
    let measure: () -> Double
}

/// Asks the system how much memory this process has had.
enum ProcessMemory {
    /// By how many MiB the resident memory grows at most while a body runs; 0 where nobody says.
    static func growth(_ body: () -> Void) -> Double {
        let before = figure("VmRSS:")
        // Lets the highest figure begin anew: https://man7.org/linux/man-pages/man5/proc.5.html
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        body()
        return max(0, figure("VmHWM:") - before) / 1_024
    }

    /// A figure of the process's status in KiB.
    private static func figure(_ name: String) -> Double {
        guard let data = FileManager.default.contents(atPath: "/proc/self/status") else { return 0 }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n")
        where line.hasPrefix(name) {
            return Double(line.split(separator: "\t").last?.split(separator: " ").first ?? "") ?? 0
        }
        return 0
    }
}
