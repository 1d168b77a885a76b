#if CommandLine
    import BSONStore

    /// The changes of a server, as its change stream reports them.
    struct ServerChanges: Sendable {
        private let namespace: Namespace?
        private let position: String?

        /// The longest wait of one request, after which a stop is noticed, in milliseconds.
        private static let waitMS: Int32 = 500

        /// - Parameters:
        ///   - namespace: the collection; `nil` for all.
        ///   - position: the position after which the changes begin; `nil` for now.
        init(of namespace: Namespace?, after position: String?) {
            self.namespace = namespace
            self.position = position
        }

        private var database: String { namespace?.database ?? "admin" }

        private var command: BSONDocument {
            var options: BSONDocument = ["fullDocument": "updateLookup"]
            if namespace == nil { options.append("allChangesForCluster", true) }
            if let position {
                options.append("resumeAfter", .document(["_data": .string(position)]))
            }
            let target = namespace.map { BSONValue.string($0.collection) } ?? .int32(1)
            return [
                "aggregate": target,
                "pipeline": [["$changeStream": .document(options)]], "cursor": [:],
            ]
        }

        /// Passes each change to a body, and waits for more.
        ///
        /// - Parameter isOver: whether to stop, asked after each change and each wait.
        /// - Throws: `CommandError` if the server ends the stream, as after a drop.
        func forEach(
            _ source: DocumentSource, until isOver: () -> Bool,
            _ body: (BSONDocument) throws -> Void
        ) throws {
            var cursor = try source.run(command, on: database).document("cursor")
            var batch = cursor.documents("firstBatch")
            let name = cursor.text("ns").drop { $0 != "." }.dropFirst()
            while true {
                for event in batch {
                    try body(Self.change(event))
                    if isOver() { return }
                }
                if isOver() { return }
                guard case .int64(let id)? = cursor["id"], id != 0 else {
                    throw CommandError(
                        "the server ended the changes of \(namespace?.description ?? "it"); the "
                            + "collection was dropped or renamed")
                }
                cursor = try source.run(
                    [
                        "getMore": .int64(id), "collection": .string(String(name)),
                        "maxTimeMS": .int32(Self.waitMS),
                    ], on: database
                ).document("cursor")
                batch = cursor.documents("nextBatch")
            }
        }

        /// Returns an event as `watch` prints a change of a file.
        private static func change(_ event: BSONDocument) -> BSONDocument {
            let place = event.document("ns")
            let names = [place.text("db"), place.text("coll")].filter { !$0.isEmpty }
            var change: BSONDocument = [
                "position": event.document("_id")["_data"] ?? .null,
                "change": event["operationType"] ?? .null,
                "collection": .string(names.joined(separator: ".")),
            ]
            if let id = event.document("documentKey")["_id"] { change.append("_id", id) }
            if case .document(let document)? = event["fullDocument"] {
                change.append("document", .document(document))
            }
            return change
        }
    }
#endif
