import BSONStore
import Foundation

/// The documents whose writes a server acknowledged.
struct WireLedger: Sendable {
    /// The database that is attacked.
    static let database = "attacked"

    private var documents: [Namespace: [BSONDocument]] = [:]

    /// How many documents there are.
    var count: Int { documents.values.reduce(0) { $0 + $1.count } }

    /// Notes documents that are on the server's disk, as it said.
    mutating func note(_ documents: [BSONDocument], in collection: String) {
        self.documents[Namespace(Self.database, collection), default: []] += documents
    }

    /// Notes what another ledger has.
    mutating func note(_ other: WireLedger) {
        for (namespace, documents) in other.documents {
            self.documents[namespace, default: []] += documents
        }
    }

    /// What a file lacks, or has with other bytes.
    func losses(inFileAt path: String) -> [String] {
        do {
            let store = try DocumentStore(at: .file(path), options: DocumentStore.Options())
            defer { store.close() }
            var lost = try store.verify().faults.map(\.message)
            for (namespace, documents) in documents {
                for document in documents {
                    let id = document["_id"] ?? .null
                    let found = try store.collection(namespace).findOne(id: id)
                    guard found != document else { continue }
                    lost.append("\(namespace) \(id) is \(found == nil ? "gone" : "another")")
                }
            }
            return lost
        } catch {
            return ["the server's file cannot be read: \(error)"]
        }
    }

    /// The command that inserts documents and waits for the disk.
    static func insert(_ documents: [BSONDocument], in collection: String) -> BSONDocument {
        [
            "insert": .string(collection),
            "documents": .array(BSONArray(documents.map { .document($0) })),
            "writeConcern": ["w": 1, "j": true], "$db": .string(database),
        ]
    }
}
