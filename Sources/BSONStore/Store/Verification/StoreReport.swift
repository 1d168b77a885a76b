/// The result of a check of a store.
public struct StoreReport: Sendable, Hashable {
    /// A fault.
    public struct Fault: Sendable, Hashable {
        /// The place of a fault.
        public enum Place: Sendable, Hashable {
            /// A page of the file, which SQLite reports.
            case page
            /// A document: its bytes, or its `_id` compared with the key of its row.
            case document
            /// An index: a row without its document.
            case index
            /// The change feed.
            case change
        }

        /// The place of the fault.
        public let place: Place
        /// The collection's name, if the fault concerns one.
        public let namespace: Namespace?
        /// The document's `_id`, from the key of its row; `nil` when unreadable.
        public let documentID: BSONValue?
        /// The index's name, if the fault concerns one.
        public let indexName: String?
        /// A description for people.
        public let message: String
        /// The document's row in its table.
        let row: Int64?
    }

    /// The largest number of reported faults.
    public static let faultsMax = 1_000

    /// The faults; empty for a sound store.
    public internal(set) var faults: [Fault] = []
    /// The number of checked documents.
    public internal(set) var documentCount = 0
    /// The number of checked changes of the feed.
    public internal(set) var changeCount = 0

    /// Whether no fault was found.
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
