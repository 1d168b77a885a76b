internal import BSONStore

// Stages whose documents come from the server and not from a collection.
extension StoreBackend {
    /// The stages, by their names.
    func sources(for call: CommandCall) -> [String: PipelineOptions.Source] {
        [
            "$currentOp": { [self] _ in operations() },
            "$listSearchIndexes": { (_) throws(StoreError) in
                throw StoreError(
                    StoreError.Code(rawValue: SearchIndexCommands.refusal.code),
                    SearchIndexCommands.refusal.message)
            },
            "$listLocalSessions": { [self] _ in localSessions() },
            "$listSessions": { [self] _ in localSessions() },
        ]
    }

    private func operations() -> [BSONDocument] {
        cursors.all.map { cursor in
            [
                "type": "idleCursor", "ns": .string(cursor.namespace.description),
                "cursor": ["cursorId": .int64(cursor.id), "nDocsReturned": .int64(0)],
            ]
        }
    }

    private func localSessions() -> [BSONDocument] {
        sessions.all.map { session in
            ["_id": .document(session.document), "lastUse": .datetime(.now)]
        }
    }
}
