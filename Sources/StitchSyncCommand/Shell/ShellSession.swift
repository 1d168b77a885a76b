#if CommandLine
    import BSONScript
    import BSONStore

    /// A session as scripts see it: `db.getMongo().startSession()`.
    final class ShellSession: ScriptHost {
        /// How far the session's transaction is.
        private enum Transaction {
            case none
            /// No command of it has been sent.
            case starting(BSONDocument)
            case running
            case committed
            case aborted
        }

        private let link: ShellLink
        private let id: BSONDocument
        private let options: BSONDocument
        private var number: Int64 = 0
        private var transaction = Transaction.none
        private var hasEnded = false

        /// The maximum number of times that `withTransaction` runs its function.
        private static let attemptsMax = 20

        init(_ link: ShellLink, _ options: BSONDocument) {
            self.link = link
            self.options = options
            var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            id = ["id": .binary(BSONBinary(bytes, subtype: 4))]
        }

        var text: String { "[object Session]" }

        /// Returns a command with the fields of the session and of its transaction.
        func prepared(_ command: BSONDocument) throws -> BSONDocument {
            guard !hasEnded else {
                throw ScriptError("MongoExpiredSessionError", "Cannot use a session that has ended")
            }
            var command = command
            command.append("lsid", .document(id))
            switch transaction {
            case .none, .committed, .aborted: return command
            case .starting(let options):
                command.append("txnNumber", .int64(number))
                command.append("startTransaction", .bool(true))
                command.append("autocommit", .bool(false))
                if command["readConcern"] == nil { command.take(["readConcern"], from: options) }
                transaction = .running
            case .running:
                command.append("txnNumber", .int64(number))
                command.append("autocommit", .bool(false))
            }
            return command.leavingOut("writeConcern")
        }

        func property(_ name: String) throws -> ScriptValue? {
            let session = link.shell.session
            guard name != "id" else { return session.value(.document(id)) }
            guard name != "hasEnded" else { return .bool(hasEnded) }
            guard let method = method(name) else { return nil }
            return .native(name) { [unowned session] values in
                try method(ShellArguments(values, session))
            }
        }

        private func method(_ name: String) -> ((ShellArguments) throws -> ScriptValue)? {
            switch name {
            case "getDatabase":
                return { arguments in
                    let link = ShellLink(self.link.shell, self.link.server, session: self)
                    return .host(ShellDatabase(try arguments.text(0, "database"), link))
                }
            case "startTransaction":
                return { arguments in
                    try self.start(try arguments.document(0, "options") ?? [:])
                    return .undefined
                }
            case "commitTransaction":
                return { _ in
                    try self.commit()
                    return .undefined
                }
            case "abortTransaction":
                return { _ in
                    try self.abort()
                    return .undefined
                }
            case "withTransaction":
                return { arguments in
                    try self.repeatTransaction(
                        try arguments.function(0), try arguments.document(1, "options") ?? [:])
                }
            case "endSession":
                return { _ in
                    try self.end()
                    return .undefined
                }
            case "inTransaction": return { _ in .bool(self.isInTransaction) }
            case "getSessionId": return { _ in self.link.shell.session.value(.document(self.id)) }
            case "getOptions":
                return { _ in self.link.shell.session.value(.document(self.options)) }
            case "advanceOperationTime", "advanceClusterTime": return { _ in .undefined }
            case "getClusterTime", "getOperationTime": return { _ in .undefined }
            default: return nil
            }
        }

        // MARK: Transactions

        private var isInTransaction: Bool {
            switch transaction {
            case .starting, .running: true
            case .none, .committed, .aborted: false
            }
        }

        private static func fault(_ message: String) -> ScriptError {
            ScriptError("MongoTransactionError", message)
        }

        private func start(_ given: BSONDocument) throws {
            guard !isInTransaction else { throw Self.fault("Transaction already in progress") }
            number += 1
            var all = given
            for (name, value) in options.document("defaultTransactionOptions")
            where given[name] == nil {
                all.append(name, value)
            }
            transaction = .starting(all)
        }

        private func commit() throws {
            switch transaction {
            case .none: throw Self.fault("No transaction started")
            case .aborted:
                throw Self.fault("Cannot call commitTransaction after calling abortTransaction")
            case .starting: transaction = .committed
            case .running, .committed:
                transaction = .committed
                try finish("commitTransaction")
            }
        }

        private func abort() throws {
            switch transaction {
            case .none: throw Self.fault("No transaction started")
            case .aborted: throw Self.fault("Cannot call abortTransaction twice")
            case .committed:
                throw Self.fault("Cannot call abortTransaction after calling commitTransaction")
            case .starting: transaction = .aborted
            case .running:
                transaction = .aborted
                do {
                    try finish("abortTransaction")
                } catch is ScriptError {
                    // The server has reverted a transaction that it no longer knows.
                }
            }
        }

        private func finish(_ command: String) throws {
            let finishing: BSONDocument = [
                command: 1, "lsid": .document(id), "txnNumber": .int64(number),
                "autocommit": .bool(false),
            ]
            let reply = try link.server.run(finishing, on: "admin")
            guard reply.number("ok") == 1 else {
                throw Shell.error(of: reply, name: "MongoServerError")
            }
        }

        /// Runs a function in a transaction, and again while the server asks for that.
        private func repeatTransaction(
            _ function: ScriptValue, _ options: BSONDocument
        ) throws -> ScriptValue {
            let session = link.shell.session
            for attempt in 1...Self.attemptsMax {
                try start(options)
                do {
                    let result = try session.awaited(
                        try session.call(function, [.host(self)]))
                    if isInTransaction { try commit() }
                    return result
                } catch {
                    let labels = try session.labels(of: error)
                    if isInTransaction { try abort() }
                    guard labels.contains("TransientTransactionError"),
                        attempt < Self.attemptsMax
                    else { throw error }
                }
            }
            return .undefined
        }

        private func end() throws {
            guard !hasEnded else { return }
            if isInTransaction { try abort() }
            hasEnded = true
            _ = try link.server.run(["endSessions": [.document(id)]], on: "admin")
        }
    }
#endif
