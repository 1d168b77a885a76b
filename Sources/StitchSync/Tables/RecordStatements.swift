internal import BSONStore

/// The SQL of ``SyncRecordTable``; Docs/STORE.md describes the tables.
enum RecordStatements {
    private typealias Column = SyncRecordTable.Column

    private static let columns = Column.selected.map(\.sql).joined(separator: ", ")
}

// MARK: - Selecting

extension RecordStatements {
    static let selectByKey = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE collection = ?1 AND key = ?2")
    static let selectByRow = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE id = ?1")
    /// The revision and the stale mark of a row.
    static let selectRevision = FixedStatement(
        "SELECT revision, hint FROM sync_documents WHERE id = ?1")
    static let selectStaleMark = "SELECT hint FROM sync_documents WHERE collection = ? AND key = ?"
    static let selectBase = FixedStatement("SELECT base FROM sync_bases WHERE document = ?1")

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
                selection.isIndexed ? (", \(Column.base.sql)", joinOfBases) : ("", "")
            // The plus sign keeps SQLite from using the index by key, which is not in row order:
            // each page would sort the whole collection.
            let collection = selection.isIndexed ? "collection" : "+collection"
            return (
                selection,
                """
                SELECT \(columns)\(base) FROM sync_documents \(join)
                WHERE \(collection) = ? AND id > ? AND \(selection.condition) ORDER BY id LIMIT ?
                """
            )
        })

    /// The base of each record that has a stored one; the others have no row in `sync_bases`.
    private static let joinOfBases =
        """
        LEFT JOIN sync_bases ON document = CASE base_kind WHEN \(storedBaseKind) THEN id END
        """

    private static let storedBaseKind = SyncRecordTable.storedBaseKind

    /// The parts of ``SyncRecordTable/workSignature()``, of two numbers each.
    static let selectWork = [
        """
        SELECT count(*), total(revision & \(revisionMask)) FROM sync_documents
        WHERE \(RecordSelection.toUpload.condition)
        """,
        """
        SELECT count(*), max(hint & \(AbsenceCause.numberBits)) FROM sync_documents
        WHERE \(RecordSelection.toFetch.condition)
        """,
        "SELECT count(*), max(id) FROM sync_wanted",
    ]

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
        WHERE collection = ? AND substr(version, 6, 2) = x'7600' ORDER BY id
        """
}

// MARK: - Writing

extension RecordStatements {
    static let insert = FixedStatement(
        """
        INSERT INTO sync_documents(\(Column.inserted.map(\.sql).joined(separator: ", ")))
        VALUES (\(Column.inserted.map { "?\($0.parameter)" }.joined(separator: ", ")))
        """)
    static let updateUnindexed = FixedStatement(update(Column.unindexed))
    static let updatePending = FixedStatement(update(Column.unindexed + [.pending]))
    static let updateChanging = FixedStatement(update(Column.changing))
    static let updateStaleMark = FixedStatement("UPDATE sync_documents SET hint = ?1 WHERE id = ?2")
    static let updateReason = FixedStatement("UPDATE sync_documents SET by_id = ?1 WHERE id = ?2")
    static let delete = FixedStatement("DELETE FROM sync_documents \(whereExpected)")

    static let insertBase = FixedStatement("INSERT OR REPLACE INTO sync_bases VALUES (?1, ?2)")
    static let deleteBase = FixedStatement("DELETE FROM sync_bases WHERE document = ?1")
    static let deleteStaleBase = FixedStatement(
        """
        DELETE FROM sync_bases WHERE document = ?1
            AND (SELECT base_kind FROM sync_documents WHERE id = ?1) IS NOT \(storedBaseKind)
        """)
    static let deleteEarlier = FixedStatement("DELETE FROM sync_earlier WHERE document = ?1")

    /// The parameter of the revision that a write expects; NULL accepts any.
    static let expectedRevision = Int32(Column.allCases.count) + 1

    private static let whereExpected =
        """
        WHERE id = ?\(Column.id.parameter)
            AND (?\(expectedRevision) IS NULL OR revision = ?\(expectedRevision))
        """

    private static func update(_ columns: [Column]) -> String {
        """
        UPDATE sync_documents
        SET \(columns.map { "\($0.sql) = ?\($0.parameter)" }.joined(separator: ", "))
        \(whereExpected)
        """
    }
}
