#if CommandLine && Server
    import BSONStore
    import StitchSync

    /// The steps of a device and of a server as one story, tied by the operations.
    struct MergedStory: Sendable {
        /// A step, and the side that noted it.
        enum Step: Sendable {
            case device(HistoryEntry)
            case server(ServerStep)
        }

        /// The steps in order.
        let steps: [Step]

        /// Merges the steps; each side keeps its own order.
        ///
        /// The server applies an operation after the device sent it and before the device reports or
        /// receives it, whatever the clocks of both say. All else is in the order of time.
        init(_ entries: [HistoryEntry], _ writes: [ServerStep]) {
            var steps: [Step] = []
            var (entries, writes) = (entries[...], writes[...])
            while let entry = entries.first, let write = writes.first {
                let isKnownHere = Self.result(entry).map { operation in
                    writes.contains { $0.operation == operation }
                }
                let isStillSent = write.operation.map { operation in
                    entries.contains { Self.sent($0) == operation }
                }
                let isServersTurn =
                    isKnownHere == true
                    || isStillSent != true && write.milliseconds < entry.time.milliseconds
                if isServersTurn {
                    steps.append(.server(write))
                    writes.removeFirst()
                } else {
                    steps.append(.device(entry))
                    entries.removeFirst()
                }
            }
            self.steps = steps + entries.map(Step.device) + writes.map(Step.server)
        }

        /// The operation that an entry sends.
        private static func sent(_ entry: HistoryEntry) -> OperationID? {
            if case .sent = entry.event { entry.operation } else { nil }
        }

        /// The operation that the server had applied before the entry was noted.
        private static func result(_ entry: HistoryEntry) -> OperationID? {
            switch entry.event {
            case .applied, .recovered: entry.operation ?? entry.versionAfter?.operation
            case .received, .enteredView, .foundEqual, .resolved, .conflictWaits:
                entry.versionAfter?.operation
            case .written, .sent, .unanswered, .notMatched, .notFound, .leftView, .refused,
                .reverted, .paused, .resumed, .becameStale, .synced, .desynced:
                nil
            }
        }

        /// The steps, each in a line with its side, and the fields of a conflict below.
        var lines: [String] {
            steps.flatMap { step in
                switch step {
                case .device(let entry): entry.lines(of: "device")
                case .server(let write): [write.line]
                }
            }
        }

        /// The steps as JSON objects.
        var objects: [BSONDocument] {
            steps.map { step in
                switch step {
                case .device(let entry):
                    var object: BSONDocument = ["side": "device"]
                    for (name, value) in entry.object { object.append(name, value) }
                    return object
                case .server(let write): return write.object
                }
            }
        }
    }

    extension ServerStep {
        /// The time, the side and the write.
        var line: String {
            let time = BSONDatetime(milliseconds: milliseconds).text
            return "\(milliseconds == 0 ? "(unknown time)" : time) server: \(text)"
        }

        /// The step as a JSON object.
        var object: BSONDocument {
            var object: BSONDocument = [
                "side": "server", "at": .datetime(BSONDatetime(milliseconds: milliseconds)),
                "text": .string(text),
            ]
            if let operation { object.append("operation", .string("\(operation)")) }
            return object
        }
    }
#endif
