#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The result of a write as a command prints it.
    struct WriteReport: Sendable {
        /// The counts by name.
        var counts: [(name: String, count: Int)]
        /// The `_id` of a document that an upsert inserted.
        var upsertedID: BSONValue?
        /// The errors of single writes.
        let errors: [BSONDocument]
        /// Whether the changes are pending.
        let isPending: Bool

        /// The errors that are named; the others are counted.
        private static let errorsShownMax = 20

        /// Reads the reply to a command that writes.
        init(
            _ reply: BSONDocument, counts: [(name: String, count: Int)], isPending: Bool
        ) {
            self.counts = counts
            upsertedID = reply.documents("upserted").first?["_id"]
            errors = reply.documents("writeErrors")
            self.isPending = isPending && (upsertedID != nil || counts.contains { $0.count > 0 })
        }

        /// Prints a sentence or an object, and on standard error the errors of single writes.
        ///
        /// - Parameter resumed: the number of documents whose pause the write ended.
        /// - Throws: `ExitCode.failure` if there are errors.
        func say(_ namespace: Namespace, resumed: Int = 0, asJSON json: Bool) throws {
            let console = Console.standard
            for error in errors.prefix(Self.errorsShownMax) {
                let index = Int(error.number("index")) + 1
                try console.warn("document \(index): \(error.text("errmsg"))")
            }
            if errors.count > Self.errorsShownMax {
                try console.warn("and \(errors.count - Self.errorsShownMax) more errors")
            }
            if json {
                try console.say(object.extendedJSON(.relaxed))
            } else {
                try console.say("\(namespace): \(sentence)")
                if isPending { try console.say("pending: it is sent with the next sync") }
                if resumed > 0 {
                    try console.say(
                        "\(resumed.counted("paused document")) will be synced again")
                }
            }
            guard errors.isEmpty else { throw ExitCode.failure }
        }

        private var sentence: String {
            let words = counts.map { "\($0.count) \($0.name)" }
            let upserted = upsertedID.map { ["_id \($0.extendedJSON(.relaxed)) upserted"] } ?? []
            return (words + upserted).joined(separator: ", ")
        }

        private var object: BSONDocument {
            var object = BSONDocument()
            for (name, count) in counts { object.append(name, .int64(Int64(count))) }
            if let upsertedID { object.append("upsertedId", upsertedID) }
            object.append("pending", .bool(isPending))
            return object
        }
    }
#endif
