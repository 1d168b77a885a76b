#if CommandLine
    import BSONStore

    /// The way in which an import writes documents by commands.
    struct ImportWrite: Sendable {
        /// The effect of an imported document, as mongoimport names it.
        enum Mode: String, CaseIterable, Sendable {
            /// Inserts the document; an existing one is rejected.
            case insert
            /// Replaces the existing document, or inserts it.
            case upsert
            /// Sets the fields in the existing document, or inserts it.
            case merge
            /// Deletes the existing document.
            case delete
        }

        let mode: Mode
        /// The paths of the fields by which the existing document is found.
        let keys: [String]

        /// Writes a batch; refused documents become faults.
        func run(
            _ batch: inout DocumentReader.Batch, _ namespace: Namespace, _ source: DocumentSource,
            isOrdered: Bool
        ) throws {
            var inserts: [(line: Int, document: BSONDocument)] = []
            var others: [(line: Int, document: BSONDocument)] = []
            for (line, document) in batch.documents {
                if mode == .insert {
                    inserts.append((line, ShellCollection.identified(document).0))
                } else if let filter = filter(of: document) {
                    others.append((line, write(document, filter)))
                } else if mode == .delete {
                    batch.faults.append(
                        (line, .answered("the document has no \(keys.joined(separator: ", "))")))
                } else {
                    // mongoimport also inserts what it cannot look for.
                    inserts.append((line, ShellCollection.identified(document).0))
                }
            }
            var refused: [(line: Int, fault: ImportLineError)] = []
            _ = try send("insert", "documents", inserts, namespace, source, isOrdered, &refused)
            let isDelete = mode == .delete
            let count = try send(
                isDelete ? "delete" : "update", isDelete ? "deletes" : "updates", others,
                namespace, source, isOrdered, &refused)
            let lines = Set((refused + batch.faults).map(\.line))
            batch.faults += refused
            let first = isOrdered ? lines.min() ?? .max : .max
            if isDelete {
                batch.missedCount = others.count { !lines.contains($0.line) && $0.line < first }
                batch.missedCount -= count
            }
            batch.documents.removeAll { lines.contains($0.line) || $0.line > first }
        }

        /// Sends a command and returns its count of documents.
        private func send(
            _ command: String, _ list: String, _ writes: [(line: Int, document: BSONDocument)],
            _ namespace: Namespace, _ source: DocumentSource, _ isOrdered: Bool,
            _ refused: inout [(line: Int, fault: ImportLineError)]
        ) throws -> Int {
            guard !writes.isEmpty, !(isOrdered && !refused.isEmpty) else { return 0 }
            let reply = try source.run(
                [
                    command: .string(namespace.collection),
                    list: .array(BSONArray(writes.map { .document($0.document) })),
                    "ordered": .bool(isOrdered),
                ], on: namespace.database)
            for error in reply.documents("writeErrors") {
                let index = Int(error.number("index"))
                guard writes.indices.contains(index) else { continue }
                let (line, document) = writes[index]
                let isDuplicate = error.number("code") == 11_000 && command == "insert"
                refused.append(
                    (
                        line,
                        isDuplicate
                            ? .duplicateID(document["_id"] ?? .null)
                            : .answered(error.text("errmsg"))
                    ))
            }
            return Int(reply.number("n"))
        }

        /// Returns the filter that finds the existing document; `nil` if a key is missing.
        private func filter(of document: BSONDocument) -> BSONDocument? {
            var filter = BSONDocument()
            for key in keys {
                guard let value = document[path: key] else { return nil }
                filter.append(key, value)
            }
            return filter
        }

        private func write(_ document: BSONDocument, _ filter: BSONDocument) -> BSONDocument {
            switch mode {
            case .delete: return ["q": .document(filter), "limit": 1]
            case .insert, .upsert:
                return ["q": .document(filter), "u": .document(document), "upsert": true]
            case .merge:
                return [
                    "q": .document(filter), "u": ["$set": .document(document)], "upsert": true,
                ]
            }
        }
    }
#endif
