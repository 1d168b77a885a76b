import BSONStore
import BenchmarkBaseline
import Foundation

/// Holds both sides' files with the same content.
final class StorePair {
    static let namespace = Namespace("app", "documents")

    let baseline: OpaquePointer
    let store: DocumentStore
    let collection: DocumentCollection<BSONDocument>

    /// Fills new files with the first documents.
    init(
        _ folder: StoreFolder, _ documents: StoreDocuments, _ count: Int, isIndexed: Bool = false
    ) {
        baseline = baseline_store_open(folder.file(), documents.baseline, isIndexed ? 1 : 0)
        store = folder.store()
        collection = store.collection(Self.namespace)
        if isIndexed { must { _ = try collection.createIndex(["n": 1]) } }
        baseline_store_insert(baseline, 0, count, 0)
        let first = Array(documents.documents[..<count])
        must { _ = try collection.insertMany(first) }
    }

    deinit {
        baseline_store_close(baseline)
        store.close()
    }
}

/// Names files in a folder of this process's own.
final class StoreFolder {
    private let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("stitchsync-benchmarks-\(getpid())-\(UUID().uuidString)")
    private var fileCount = 0

    /// The path of a file that is not there yet.
    func file() -> String {
        must {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
        }
        fileCount += 1
        return directory.appendingPathComponent("\(fileCount).db").path
    }

    /// A new store.
    func store() -> DocumentStore {
        must { try DocumentStore(at: .file(file()), options: .init(durability: .normal)) }
    }

    /// Removes the files.
    func remove() {
        guard FileManager.default.fileExists(atPath: directory.path) else { return }
        must { try FileManager.default.removeItem(at: directory) }
    }
}

/// Runs what cannot fail here; if it does, the measurement is worth nothing.
func must<R>(_ body: () throws -> R) -> R {
    do { return try body() } catch { preconditionFailure("\(error)") }
}
