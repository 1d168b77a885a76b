#if CommandLine && Server
    import BSONStore
    import StitchSync

    /// What happened to one document at a server, or in the file of one.
    struct ServerStory: Sendable {
        /// The document's id.
        let documentID: BSONValue
        /// The accepted and the denied writes, the newest last.
        let steps: [ServerStep]
        /// The document as the server has it now; `nil` if it has none.
        let document: BSONDocument?
        /// Whether the server's history may have lost older changes.
        let mayLackChanges: Bool
        /// The devices that follow the collection, and whether they have the newest change.
        private let readers: [BSONDocument]
        /// Whether the user may read the denied writes.
        let knowsDenied: Bool
        /// The server without its password, for commands.
        private let place: String
        private let namespace: Namespace

        /// Reads a story from what the server's history holds of a document.
        ///
        /// - Parameters:
        ///   - found: the document of `WriteHistory`.
        ///   - place: the server, for commands.
        ///   - limit: the maximum number of steps, the newest ones.
        init(
            _ found: BSONDocument, _ id: BSONValue, _ namespace: Namespace, _ place: String,
            _ limit: Int
        ) {
            func list(_ name: String) -> [BSONDocument] {
                (found[name]?.arrayValue ?? []).compactMap(\.documentValue)
            }
            documentID = id
            document = found["document"]?.documentValue
            mayLackChanges = found["isComplete"] == false
            readers = list("readers")
            knowsDenied = found["denied"] != .null
            self.place = place
            self.namespace = namespace
            let changes = list("changes").map(ServerStep.init(change:))
            let denials = list("denied").reversed().map(ServerStep.init(denial:))
            steps = Array(Self.inOrder(changes, denials).suffix(limit))
        }

        /// Merges both lists by time; each keeps its own order.
        private static func inOrder(
            _ changes: [ServerStep], _ denials: [ServerStep]
        ) -> [ServerStep] {
            var steps: [ServerStep] = []
            var rest = denials[...]
            for change in changes {
                while let denial = rest.first, denial.milliseconds < change.milliseconds {
                    steps.append(denial)
                    rest.removeFirst()
                }
                steps.append(change)
            }
            return steps + rest
        }

        /// The last lines: the server's document, and the command that explains a denied write.
        var endLines: [String] {
            var lines = readerLines + [stateText]
            if let user = steps.last?.deniedUser {
                lines.append(
                    "the server denied the last write: stitchsync rules explain RULES "
                        + "\(ShellWord(namespace.description)) "
                        + "\(ShellWord(documentID.extendedJSON(.relaxed))) "
                        + "\(Self.options(of: user)) \(ShellWord.option("db", place))"
                )
            }
            if mayLackChanges {
                lines.append("older changes may be missing: the server's change history is bounded")
            }
            if !knowsDenied {
                lines.append("denied writes are not shown: only an administrator may read them")
            }
            return lines
        }

        private var readerLines: [String] {
            [("seen by", true), ("not yet seen by", false)].compactMap { title, hasSeen in
                let names = readers.filter { $0["hasSeen"] == .bool(hasSeen) }.map(Self.name)
                guard !names.isEmpty else { return nil }
                let rest = names.count - Self.namedMax
                return "\(title): \(names.prefix(Self.namedMax).joined(separator: ", "))"
                    + (rest > 0 ? " and \(rest) more" : "")
            }
        }

        /// The maximum number of devices that a line names.
        private static let namedMax = 10

        private static func name(of reader: BSONDocument) -> String {
            func text(_ name: String) -> String? { reader[name]?.stringValue?.printable }
            let app = [text("app"), text("appVersion")].compactMap { $0 }.joined(separator: " ")
            return [text("user"), app, text("device").map { "device \($0)" }]
                .compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
        }

        /// Returns the options that name a user of rules: a name on `admin`, or `:database.name`.
        private static func options(of user: String) -> String {
            guard user.hasBytePrefix(":"), let dot = user.utf8.firstIndex(of: UInt8(ascii: "."))
            else {
                return ShellWord.option("user", user)
            }
            let name = ShellWord.option("user", String(user[dot...].dropFirst()))
            return "\(name) \(ShellWord.option("database", String(user[..<dot].dropFirst())))"
        }

        /// The server's document as a JSON object.
        var stateObject: BSONDocument {
            [
                "side": "server", "_id": documentID, "state": .string(stateText),
                "document": document.map { .document($0) } ?? .null,
                "readers": .array(BSONArray(readers.map { .document($0) })),
            ]
        }

        /// The server's document in words.
        var stateText: String {
            guard let document else { return "now at the server: no document" }
            guard let version = VersionField(of: document).version else {
                return "now at the server: a document without a version"
            }
            return "now at the server: version \(version.counter)"
        }
    }

    /// A write of a document that a server applied or denied.
    struct ServerStep: Sendable {
        /// The time by the server's clock, in milliseconds since 1970; 0 where it is unknown.
        let milliseconds: Int64
        /// The attempt of a device that made the write.
        let operation: OperationID?
        /// The user whose write rules denied; `nil` for a write that the server applied.
        let deniedUser: String?
        /// The write in words, without its time.
        let text: String

        init(change: BSONDocument) {
            let version = change["version"]?.documentValue
            milliseconds = change["time"]?.int64Value ?? 0
            deniedUser = nil
            // A replace by another tool may keep the version of the last device.
            operation = version?["op"].flatMap(OperationID.init)
            var text = Self.verb(change["operation"]?.stringValue ?? "")
            let fields = ["updated", "removed"].flatMap { name in
                (change[name]?.arrayValue ?? []).compactMap(\.stringValue)
            }
            if !fields.isEmpty { text += " (\(fields.joined(separator: ", ").printable))" }
            if let counter = version?["v"]?.int64Value { text += " as version \(counter)" }
            if let operation { text += ", operation \(operation)" }
            self.text = text
        }

        init(denial: BSONDocument) {
            milliseconds = denial["time"]?.int64Value ?? 0
            operation = nil
            let user = (denial["user"]?.stringValue ?? "").printable
            deniedUser = user
            let role = denial["role"]?.stringValue.map { "role \($0)" } ?? "no role applies"
            let field = denial["field"]?.stringValue.map { " (\($0))" } ?? ""
            let cause = denial["cause"]?.stringValue ?? ""
            text = "denied a write of user \(user): \(role), cause \(cause)\(field)".printable
        }

        private static func verb(_ operation: String) -> String {
            switch operation {
            case "insert": "inserted"
            case "update": "updated"
            case "replace": "replaced"
            case "delete": "deleted"
            default: operation.printable
            }
        }
    }
#endif
