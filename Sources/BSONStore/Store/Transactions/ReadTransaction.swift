/// A snapshot of the store for reading; valid only in the body that receives it.
///
/// It owns a connection and hands out the types that do the work: rows, catalog, queries, changes.
public class ReadTransaction {
    /// The connection, also for the sync engine's tables in the same file and transaction.
    package let connection: SQLiteConnection
    /// The policy that limits reads and writes; `nil` for full access.
    @exclusivity(unchecked) package var accessPolicy: (any AccessPolicy)?
    /// The place of the documents that the policy limits; `nil` for the store itself.
    @exclusivity(unchecked) private var candidates: (any CandidateSource)?
    /// Whether the transaction writes; its rows are then read together with their latest changes.
    private let isWriting: Bool
    @exclusivity(unchecked) private var isOpen = true

    init(connection: SQLiteConnection, isWriting: Bool = false) {
        self.connection = connection
        self.isWriting = isWriting
    }

    /// Marks the transaction as ended; later calls fail.
    func finish() { isOpen = false }

    /// Applies an access policy for the duration of a body.
    ///
    /// - Parameter candidates: the place of the documents; `nil` for the store itself.
    package func withAccessPolicy<R>(
        _ accessPolicy: (any AccessPolicy)?, readingFrom candidates: (any CandidateSource)? = nil,
        _ body: () throws -> R
    ) rethrows -> R {
        let kept = (self.accessPolicy, self.candidates)
        (self.accessPolicy, self.candidates) = (accessPolicy, candidates)
        defer { (self.accessPolicy, self.candidates) = kept }
        return try body()
    }

    private func checkIsOpen() {
        precondition(isOpen, "a transaction is used outside of the body that it was given to")
    }
}

// MARK: - Parts

extension ReadTransaction {
    /// The access to collections.
    var access: TransactionAccess { TransactionAccess(policy: accessPolicy, source: candidates) }

    /// The tables of collections.
    var tables: TableLookup {
        checkIsOpen()
        return TableLookup(connection: connection)
    }

    /// The rows by key and number, regardless of the access policy.
    var rows: RowLookup {
        checkIsOpen()
        return RowLookup(connection: connection, readsChanges: isWriting)
    }

    /// The list of collections.
    var catalog: CatalogReader {
        checkIsOpen()
        return CatalogReader(connection: connection, access: access)
    }

    /// The execution of queries.
    var executor: QueryExecutor {
        checkIsOpen()
        return QueryExecutor(connection: connection, access: access, isWriting: isWriting)
    }

    /// Returns the reader of a collection that the access policy restricts; `nil` for full access.
    func restricted(_ namespace: Namespace) -> RestrictedReader? {
        accessPolicy == nil ? nil : executor.restricted(namespace)
    }
}
