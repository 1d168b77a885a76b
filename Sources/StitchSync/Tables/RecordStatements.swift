internal import BSONStore

/// The SQL of ``SyncRecordTable``; Docs/STORE.md describes the tables.
///
/// A value has the parameter of its column, in statements of other tables, too: their `document` is
/// the `id` of a record. Two values that no column holds have a parameter of their own.
enum RecordStatements {
    private typealias Column = SyncRecordTable.Column

    private static let columns = Column.selected.map(\.sql).joined(separator: ", ")

    /// The parameter of the revision that a write expects; NULL accepts any.
    static let expectedRevision = Int32(Column.allCases.count) + 1
    /// The parameter of the number of rows in a page.
    static let pageSize = expectedRevision + 1

    /// The condition on the rows of a collection, in each table that names one.
    static let isInCollection = Column.collection.equalsParameter
    /// The condition on a record's row; ``isOfRow`` is that on its rows in other tables.
    private static let isRow = Column.id.equalsParameter
    private static let isOfRow = "document = ?\(Column.id.parameter)"
}

// MARK: - Selecting

extension RecordStatements {
    static let selectByKey = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE \(hasKey)")
    static let selectByRow = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE \(isRow)")
    /// The revision and the stale mark of a row.
    static let selectRevision = FixedStatement(
        "SELECT revision, hint FROM sync_documents WHERE \(isRow)")
    static let selectStaleMark = "SELECT hint FROM sync_documents WHERE \(hasKey)"
    static let selectBase = FixedStatement("SELECT base FROM sync_bases WHERE \(isOfRow)")

    private static let hasKey = "\(isInCollection) AND \(Column.key.equalsParameter)"

    /// Returns the statement that selects a page of records after a row.
    static func select(_ selection: RecordSelection) -> String {
        guard let sql = selections[selection] else {
            preconditionFailure("every selection has a statement")
        }
        return sql
    }

    private static let selections = Dictionary(
        uniqueKeysWithValues: RecordSelection.allCases.map { selection in
            let (base, join) =
                selection.joinsBases ? (", \(Column.base.sql)", joinOfBases) : ("", "")
            // The plus sign keeps SQLite from using the index by key, which is not in row order:
            // each page would sort the whole collection.
            let plus = selection.isIndexed ? "" : "+"
            return (
                selection,
                """
                SELECT \(columns)\(base) FROM sync_documents \(join)
                WHERE \(plus)\(isInCollection) AND id > ?\(Column.id.parameter)
                    AND \(selection.condition)
                ORDER BY id LIMIT ?\(pageSize)
                """
            )
        })

    /// The base of each record that has a stored one; the others have no row in `sync_bases`.
    private static let joinOfBases =
        """
        LEFT JOIN sync_bases ON document = CASE base_kind WHEN \(storedBaseKind) THEN id END
        """

    private static let storedBaseKind = SyncRecordTable.storedBaseKind

    /// The numbers of ``SyncRecordTable/WorkSignature``.
    ///
    /// Of stale records only the newest mark counts, not the revisions: each pass saves a conflict
    /// that waits for a handler again.
    static let selectUploads =
        """
        SELECT count(*), total(revision & \(revisionMask)) FROM sync_documents
        WHERE \(RecordSelection.toUpload.condition)
        """
    static let selectFetches =
        """
        SELECT count(*), max(hint & \(AbsenceCause.numberBits)) FROM sync_documents
        WHERE \(RecordSelection.toFetch.condition)
        """
    static let selectWantedIDs = "SELECT count(*), max(id) FROM sync_wanted"
    static let selectNewestSet = "SELECT max(version) FROM sync_sets"

    /// The bits of a revision that a record's own writes change; a sum of them does not overflow.
    private static let revisionMask = (1 << SyncRecord.revisionBits) - 1
}

// MARK: - Looking into stored documents

extension RecordStatements {
    /// A pause is a BSON document that begins with the text field `code`.
    ///
    /// Before the text are the document's length (4 bytes), the type (1), the name with its
    /// end (5) and the text's length (4); SQLite counts bytes from 1. No other code begins with
    /// this one.
    static let pauseIsUnexplained =
        "instr(pause, CAST('\(SyncError.Code.unexplainedAbsence.rawValue)' AS BLOB)) = 15"

    /// A foreign version is stored as the field `v` of a document, and few versions begin with `v`.
    ///
    /// The first field's name is behind the document's length (4 bytes) and the type (1).
    static let selectForeignVersions =
        """
        SELECT document_id, key, version FROM sync_documents
        WHERE \(isInCollection) AND substr(version, 6, 2) = x'7600' ORDER BY id
        """
}

// MARK: - Writing

extension RecordStatements {
    static let insert = FixedStatement(
        """
        INSERT INTO sync_documents(\(insertedColumns.map(\.sql).joined(separator: ", ")))
        VALUES (\(insertedColumns.map { "?\($0.parameter)" }.joined(separator: ", ")))
        """)
    static let updateUnindexed = FixedStatement(update(Column.unindexed, isExpected))
    static let updatePending = FixedStatement(update(Column.unindexedAndPending, isExpected))
    static let updateChanging = FixedStatement(update(Column.changing, isExpected))
    static let updateStaleMark = FixedStatement(update([.staleMark], isRow))
    static let updateReason = FixedStatement(update([.reason], isRow))
    static let delete = FixedStatement("DELETE FROM sync_documents WHERE \(isExpected)")

    static let insertBase = FixedStatement(
        """
        INSERT OR REPLACE INTO sync_bases
        VALUES (?\(Column.id.parameter), ?\(Column.base.parameter))
        """)
    static let deleteBase = FixedStatement("DELETE FROM sync_bases WHERE \(isOfRow)")
    static let deleteOutdatedBase = FixedStatement(
        """
        DELETE FROM sync_bases WHERE \(isOfRow)
            AND (SELECT base_kind FROM sync_documents WHERE \(isRow)) IS NOT \(storedBaseKind)
        """)
    static let deleteEarlier = FixedStatement("DELETE FROM sync_earlier WHERE \(isOfRow)")

    private static let insertedColumns = Column.inserted + [.collection]

    private static let isExpected =
        """
        \(isRow) AND (?\(expectedRevision) IS NULL OR revision = ?\(expectedRevision))
        """

    private static func update(_ columns: [Column], _ condition: String) -> String {
        """
        UPDATE sync_documents SET \(columns.map(\.equalsParameter).joined(separator: ", "))
        WHERE \(condition)
        """
    }
}
