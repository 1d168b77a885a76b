/// Tells what a check of a whole store found.
public struct StoreReport: Sendable, Hashable {
    /// One thing that is not as it has to be.
    public struct Fault: Sendable, Hashable {
        /// Where the fault lies.
        public enum Place: Sendable, Hashable {
            /// In a page of the file, which SQLite reports.
            case page
            /// In a document: its bytes, or its `_id` against the key of its row.
            case document
            /// In an index: a row for a document that is not there.
            case index
            /// In the change feed.
            case change
        }

        /// Where the fault lies.
        public let place: Place
        /// The collection concerned, where there is one.
        public let namespace: Namespace?
        /// The document's `_id` by the key of its row, where that can be read.
        public let documentID: BSONValue?
        /// The index concerned, by its name, where there is one.
        public let indexName: String?
        /// A sentence for people.
        public let message: String
        /// The document's row in its table.
        let row: Int64?
    }

    /// At most so many faults are told.
    public static let faultsMax = 1_000

    /// What is wrong; empty for a sound store.
    public internal(set) var faults: [Fault] = []
    /// How many documents were looked at.
    public internal(set) var documentCount = 0
    /// How many changes of the feed were looked at.
    public internal(set) var changeCount = 0

    /// Whether nothing is wrong.
    public var isSound: Bool { faults.isEmpty }

    mutating func note(
        _ place: Fault.Place, _ message: String, namespace: Namespace? = nil,
        documentID: BSONValue? = nil, indexName: String? = nil, row: Int64? = nil
    ) {
        guard faults.count < Self.faultsMax else { return }
        faults.append(
            Fault(
                place: place, namespace: namespace, documentID: documentID, indexName: indexName,
                message: message, row: row))
    }
}
