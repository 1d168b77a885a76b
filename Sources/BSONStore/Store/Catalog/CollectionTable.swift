/// The SQL table of one collection, with the statements that run on it.
final class CollectionTable: Sendable {
    let id: Int64
    let namespace: Namespace
    /// The options; new options give the table another number.
    let options: CollectionOptions
    /// The collation of queries that name none.
    let collation: Collation?
    /// The validator of written documents; `nil` when none has an effect.
    let validator: Filter?
    /// Whether no option affects writes or reads.
    let isPlain: Bool
    /// Whether documents are stored, and returned without a sort, in the order of their ids.
    let isClustered: Bool
    private let statements: [String]

    /// The frequent statements.
    enum Statement: Int, CaseIterable, Sendable {
        /// Adds key ?1 with document ?2, written by change ?3, with checksum ?4.
        case insert
        /// Adds two keys, documents, changes and checksums; after an error the first may have been
        /// added.
        case insertTwo
        /// Adds eight keys, documents, changes and checksums; after an error some may have been
        /// added.
        case insertEight
        /// Reads row and document of key ?1.
        case get
        /// Reads the same, with the change that wrote the document.
        case getToWrite
        /// Reads row, document and checksum of key ?1.
        case getChecked
        /// Reads row, document and key of all rows from key ?1 on, in key order.
        case getFrom
        /// Reads the same, with the change that wrote the document.
        case getFromToWrite
        /// Reads the same as ``getFrom``, with the checksum.
        case getFromChecked
        /// Reads key and document of row ?1.
        case getRow
        /// Reads the same, with the change that wrote the document.
        case getRowToWrite
        /// Writes document ?2 of change ?3 with checksum ?4 into row ?1, unless the row's checksum
        /// differs from ?5.
        case updateRow
        /// Removes row ?1.
        case deleteRow
        /// Reads the documents of all rows in the order of insertion.
        case scan
        /// Reads document and row of all rows in the order of insertion.
        case scanRows
        /// Reads the number of rows.
        case count
    }

    init(id: Int64, namespace: Namespace, options: CollectionOptions) throws(StoreError) {
        self.id = id
        self.namespace = namespace
        self.options = options
        isPlain = options == .none
        isClustered = options.isClustered
        let collation = try options.collation.flatMap { (document) throws(StoreError) in
            try Collation(document).unlessSimple
        }
        self.collation = collation
        let isChecked = options.validationLevel != .off && options.validationAction == .error
        validator =
            if isChecked, let filter = options.validator {
                try Filter(filter, options: FilterOptions(collation: collation))
            } else { nil }
        let table = StoreSchema.tableName(id)
        statements = Statement.allCases.map { Self.sql($0, table) }
    }

    /// Returns the SQL of a statement.
    func sql(_ statement: Statement) -> String { statements[statement.rawValue] }

    private static func sql(_ statement: Statement, _ table: String) -> String {
        switch statement {
        case .insert:
            "INSERT INTO \(table) (key, doc, change, checksum) VALUES (?1, ?2, ?3, ?4)"
        case .insertTwo: insertion(of: 2, table)
        case .insertEight: insertion(of: 8, table)
        case .get: "SELECT id, doc FROM \(table) WHERE key = ?1"
        case .getToWrite: "SELECT id, doc, change FROM \(table) WHERE key = ?1"
        case .getChecked: "SELECT id, doc, checksum FROM \(table) WHERE key = ?1"
        case .getFrom: "SELECT id, doc, key FROM \(table) WHERE key >= ?1 ORDER BY key"
        case .getFromToWrite:
            "SELECT id, doc, key, change FROM \(table) WHERE key >= ?1 ORDER BY key"
        case .getFromChecked:
            "SELECT id, doc, key, checksum FROM \(table) WHERE key >= ?1 ORDER BY key"
        case .getRow: "SELECT key, doc FROM \(table) WHERE id = ?1"
        case .getRowToWrite: "SELECT key, doc, change FROM \(table) WHERE id = ?1"
        case .updateRow:
            "UPDATE \(table) SET doc = ?2, change = ?3, checksum = ?4 "
                + "WHERE id = ?1 AND coalesce(checksum, ?5) = ?5"
        case .deleteRow: "DELETE FROM \(table) WHERE id = ?1"
        case .scan: "SELECT doc FROM \(table) ORDER BY id"
        case .scanRows: "SELECT doc, id FROM \(table) ORDER BY id"
        case .count: "SELECT count(*) FROM \(table)"
        }
    }

    /// Returns the SQL that adds several rows; an error keeps the rows before it, because to undo
    /// them SQLite would have to copy each page that the statement writes.
    private static func insertion(of count: Int, _ table: String) -> String {
        "INSERT OR FAIL INTO \(table) (key, doc, change, checksum) VALUES "
            + Array(repeating: "(?, ?, ?, ?)", count: count).joined(separator: ", ")
    }
}
