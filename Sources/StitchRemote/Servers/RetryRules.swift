#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// The rules for repeating a command once; a pure table.
    ///
    /// Source: the drivers' specifications "Retryable Reads", "Retryable Writes" and "Server
    /// Discovery and Monitoring".
    enum RetryRules {
        /// The codes of a server that is no primary (any more), or shuts down.
        static let noPrimary: Set<Int> = [
            10_107, 13_435, 13_436, 10_058,  // NotWritablePrimary, NotPrimaryNoSecondaryOk, ...
            189, 11_602,  // PrimarySteppedDown, InterruptedDueToReplStateChange
            11_600, 91,  // InterruptedAtShutdown, ShutdownInProgress
        ]

        /// The codes after which a read is repeated.
        static let reads: Set<Int> = noPrimary.union([
            6, 7, 89, 9_001,  // HostUnreachable, HostNotFound, NetworkTimeout, SocketException
            134, 262,  // ReadConcernMajorityNotAvailableYet, ExceededTimeLimit
        ])

        /// Whether the server must be looked for again.
        static func losesPrimary(_ failure: MongoFailure) -> Bool {
            switch failure.kind {
            case .network, .protocolError: true
            case .server: noPrimary.contains(failure.code)
            case .collectionDropped, .busy, .authentication, .usage: false
            }
        }

        /// Whether a command is repeated after a failure.
        ///
        /// - Parameter hasNumber: whether the command has a transaction number, so that the server
        ///   carries it out once only.
        static func repeats(
            _ kind: MongoCommandKind, hasNumber: Bool, after failure: MongoFailure
        ) -> Bool {
            switch failure.kind {
            case .network: kind == .read || hasNumber
            case .server:
                switch kind {
                case .read: reads.contains(failure.code)
                case .write: hasNumber && failure.labels.contains("RetryableWriteError")
                }
            case .collectionDropped, .busy, .authentication, .protocolError, .usage: false
            }
        }

        /// Whether a command can have a transaction number: a write of single documents.
        static func takesNumber(_ request: MongoRequest) -> Bool {
            guard let name = request.body.first(where: { _ in true })?.key else { return false }
            switch name {
            case "insert", "findAndModify": return true
            case "update":
                return request.documents("updates").allSatisfy { $0["multi"]?.boolValue != true }
            case "delete":
                return request.documents("deletes").allSatisfy { $0["limit"]?.int64Value == 1 }
            case "bulkWrite":
                return request.documents("ops").allSatisfy { $0["multi"]?.boolValue != true }
            default: return false
            }
        }
    }
#endif
