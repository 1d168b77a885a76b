#if Server
    internal import BSONStore
    internal import NIOCore

    /// The commands of one connection that wait, and those of them that can continue.
    ///
    /// Used on the connection's event loop only.
    struct WaitingCommands {
        /// The maximum number of waiting commands of one connection.
        static let countMax = 256
        /// The size limit in bytes for the requests that they keep; one may be larger.
        static let bytesMax = 1024 * 1024
        /// The largest request, in bytes, that waits whatever other connections keep.
        static let smallBytes = 64 * 1024

        private var waiting: [ObjectIdentifier: WaitingCommand] = [:]
        private var woken = CircularBuffer<(command: WaitingCommand, isTimeUp: Bool)>()
        private var bytes = 0

        /// Whether no command waits or can continue.
        var isEmpty: Bool { waiting.isEmpty && woken.isEmpty }

        /// Whether a further command may begin, which may wait, too.
        ///
        /// - Parameter countMax: the maximum number of waiting commands.
        func hasRoom(countMax: Int = countMax) -> Bool {
            let count = waiting.count + woken.count
            return count == 0 || count < min(countMax, Self.countMax) && bytes <= Self.bytesMax
        }

        /// Adds a command that begins to wait.
        mutating func add(_ command: WaitingCommand) {
            waiting[ObjectIdentifier(command)] = command
            bytes += command.bytes
        }

        /// Ends a wait, so that the command can continue in its turn.
        ///
        /// - Returns: false if the command no longer waits.
        mutating func wake(_ command: WaitingCommand, isTimeUp: Bool) -> Bool {
            guard waiting.removeValue(forKey: ObjectIdentifier(command)) != nil else {
                return false
            }
            command.end()
            woken.append((command, isTimeUp))
            return true
        }

        /// Removes the next command that can continue.
        mutating func popWoken() -> (command: WaitingCommand, isTimeUp: Bool)? {
            guard let next = woken.popFirst() else { return nil }
            bytes -= next.command.bytes
            return next
        }

        /// Abandons all commands.
        mutating func abandonAll() {
            for command in Array(waiting.values) + woken.map(\.command) { command.abandon() }
            self = WaitingCommands()
        }
    }
#endif
