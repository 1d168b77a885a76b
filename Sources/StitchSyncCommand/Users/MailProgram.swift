#if CommandLine && Server
    import BSONStore
    import Foundation
    import StitchServer

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// An operator's program that sends users their tokens for a forgotten password.
    struct MailProgram: Sendable {
        /// The time after which the program is killed.
        static let usualLimit: Duration = .seconds(30)
        /// The part of the output that is kept, in bytes.
        static let outputBytesMax = 4_096

        private let path: String
        private let arguments: [String]
        private let limit: Duration

        /// - Throws: `CommandError` when the file cannot be run.
        init(
            _ path: String, arguments: [String] = [], limit: Duration = usualLimit
        ) throws(CommandError) {
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw CommandError(
                    "cannot run \(path) of --password-mail: name an executable file; arguments "
                        + "are in --password-mail-argument")
            }
            self.path = path
            self.arguments = arguments
            self.limit = limit
        }

        /// Runs the program with a message and returns its output; blocks until its end.
        ///
        /// - Throws: `CommandError` when it fails or takes too long.
        func send(_ message: PasswordMail.Message) throws -> String {
            let (input, output) = (Pipe(), Pipe())
            // A line fits into the pipe, so it is there even if the program never reads it.
            try input.fileHandleForWriting.write(contentsOf: Data((line(message) + "\n").utf8))
            try input.fileHandleForWriting.close()
            let process = Process()
            process.executableURL = URL(filePath: path)
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.filter { name, _ in
                // One of them may hold the password of the upstream.
                !name.hasPrefix("STITCHSYNC_")
            }
            process.standardInput = input.fileHandleForReading
            process.standardOutput = output.fileHandleForWriting
            process.standardError = output.fileHandleForWriting
            let hasEnded = ThreadCondition(false)
            process.terminationHandler = { _ in hasEnded.withLock(waking: .all) { $0 = true } }
            try process.run()
            let end = ContinuousClock.now + limit
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            let text = text(from: output.fileHandleForReading, until: end, hasEnded)
            let isInTime = hasEnded.wait { hasEnded in
                if hasEnded { return .done(true) }
                return end < .now ? .done(false) : .forSignalOr(milliseconds: 100)
            }
            if !isInTime {
                // The program's own processes, if it leads a group of processes.
                kill(-process.processIdentifier, SIGKILL)
                kill(process.processIdentifier, SIGKILL)
            }
            process.waitUntilExit()
            try output.fileHandleForReading.close()
            let remark = text.isEmpty ? "" : ": \(text)"
            guard isInTime else {
                throw CommandError(
                    "\(path) was killed after \(limit.components.seconds) s\(remark)")
            }
            guard process.terminationReason == .exit, process.terminationStatus == 0 else {
                let code = process.terminationStatus
                throw CommandError(
                    process.terminationReason == .exit
                        ? "\(path) exited with \(code)\(remark)"
                        : "\(path) ended by signal \(code)\(remark)")
            }
            return text
        }

        private func line(_ message: PasswordMail.Message) -> String {
            let document: BSONDocument = [
                "user": .string(message.user), "database": .string(message.database),
                "token": .string(message.token), "expires": .string(message.expires.text),
            ]
            return document.extendedJSON()
        }

        /// Reads the output until the program has ended, also if a process that it left keeps the
        /// pipe open.
        private func text(
            from handle: FileHandle, until end: ContinuousClock.Instant,
            _ hasEnded: ThreadCondition<Bool>
        ) -> String {
            var kept: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: Self.outputBytesMax)
            while ContinuousClock.now < end {
                let isLast = hasEnded.withLock { $0 }
                var state = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&state, 1, isLast ? 0 : 50) > 0 else {
                    if isLast { break }
                    continue
                }
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                guard count > 0 else { break }
                kept += buffer.prefix(min(count, Self.outputBytesMax - kept.count))
            }
            return String(decoding: kept, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
#endif
