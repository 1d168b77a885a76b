import BSONStore
import BenchmarkRemotes
import StitchMongo
import StitchSync

/// What a run is about, from the URI and `key=value` arguments.
struct RemoteSettings {
    /// The deployment.
    var uri = ""
    /// Documents.
    var count = 10_000
    /// Bytes of a document, about.
    var size = 1_024
    /// Milliseconds that each request takes longer, one run each.
    var latencies = [0, 50]
    /// Single changes that travel from device to device.
    var changes = 500

    struct Wrong: Error { let argument: String }

    init(_ arguments: some Sequence<String>) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last.flatMap(Int.init)) {
            case ("n", let number?): count = number
            case ("size", let number?): size = number
            case ("changes", let number?): changes = number
            case ("latencies", _):
                latencies = parts.last?.split(separator: ",").compactMap { Int($0) } ?? []
            default:
                guard argument.hasPrefix("mongodb") else { throw Wrong(argument: argument) }
                uri = argument
            }
        }
    }

    /// A collection that no other run has.
    func namespace() -> Namespace {
        Namespace("bench", "items_\(UInt32.random(in: 0...UInt32.max))")
    }

    /// A document with one random text.
    func document(_ number: Int) -> BSONDocument {
        let text = String(
            decoding: (0..<max(0, size - 40)).map { _ in UInt8.random(in: 97...122) },
            as: UTF8.self)
        return ["_id": .int32(Int32(number)), "n": 0, "text": .string(text)]
    }
}

/// A device with a store in memory and a connection of its own.
struct RemoteDevice {
    let engine: SyncEngine
    let items: SyncCollection<BSONDocument>

    init(_ settings: RemoteSettings, _ namespace: Namespace, latencyMS: Int = 0) async throws {
        let remote = SlowRemote(
            base: try MongoRemote(uri: settings.uri), delay: .milliseconds(latencyMS))
        engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        items = engine.collection(namespace)
        await items.configure(conflictHandler: .remoteWins)
    }
}
