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
            try process.run()
            let id = process.processIdentifier
            let end = ContinuousClock.now + limit
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            let (text, ending) = text(from: output.fileHandleForReading, of: process, until: end)
            try output.fileHandleForReading.close()
            let remark = text.isEmpty ? "" : ": \(text)"
            switch ending {
            case nil:
                // The program's own processes, if it leads a group of processes.
                kill(-id, SIGKILL)
                kill(id, SIGKILL)
                throw CommandError(
                    "\(path) was killed after \(limit.components.seconds) s\(remark)")
            case .exit(0): return text
            case .exit(let code): throw CommandError("\(path) exited with \(code)\(remark)")
            case .signal(let number):
                throw CommandError("\(path) ended by signal \(number)\(remark)")
            }
        }

        /// How a process ended.
        private enum Ending {
            case exit(Int32)
            case signal(Int32)

            /// Returns how a child ended; `nil` as long as it runs.
            ///
            /// `Process` notices the end only once the processes that the child left have ended, too.
            init?(of process: Process) {
                guard process.isRunning else {
                    let status = process.terminationStatus
                    self = process.terminationReason == .exit ? .exit(status) : .signal(status)
                    return
                }
                var info = siginfo_t()
                let id = id_t(process.processIdentifier)
                guard waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0,
                    info.si_signo == SIGCHLD
                else { return nil }
                #if canImport(Darwin)
                    let status = info.si_status
                #else
                    let status = info._sifields._sigchld.si_status
                #endif
                self = info.si_code == CLD_EXITED ? .exit(status) : .signal(status)
            }
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
            from handle: FileHandle, of process: Process, until end: ContinuousClock.Instant
        ) -> (String, Ending?) {
            var ending: Ending?
            var kept: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: Self.outputBytesMax)
            var isOpen = true
            while ContinuousClock.now < end {
                ending = ending ?? Ending(of: process)
                let isLast = ending != nil
                guard isOpen else {
                    if isLast { break }
                    // The program has closed its output, and goes on.
                    _ = poll(nil, 0, 50)
                    continue
                }
                var state = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&state, 1, isLast ? 0 : 50) > 0 else {
                    if isLast { break }
                    continue
                }
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                guard count > 0 else {
                    isOpen = false
                    continue
                }
                kept += buffer.prefix(min(count, Self.outputBytesMax - kept.count))
            }
            let text = String(decoding: kept, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            return (text, ending)
        }
    }
#endif
