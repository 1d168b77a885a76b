#if CommandLine
    import BSONStore
    internal import StitchEditC

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// Reads lines from the terminal by libedit, with keys that edit them, a history and completion.
    ///
    /// While no line is read, the terminal works as usual.
    final class LineEditor {
        /// What a person entered.
        enum Entry: Equatable {
            case line(String)
            /// Ctrl-C.
            case interrupted
            /// Ctrl-D in an empty line, or the end of input.
            case end
        }

        /// Texts that may stand in the place of the last characters before the cursor.
        struct Completion: Equatable {
            /// The number of Unicode scalars that are replaced.
            var length = 0
            /// The texts.
            var candidates: [String] = []
        }

        private let complete: (String) -> Completion
        private let output = Descriptor.output
        /// The lines that libedit recalls.
        private let recalled: OpaquePointer
        private var editor: OpaquePointer?
        /// The prompt's bytes, which libedit reads while it reads a line.
        private var prompt: UnsafeMutablePointer<CChar>?
        private var isInterrupted = false
        /// The text before the cursor when the last Tab left a choice.
        private var undecided: String?
        /// The largest number of candidates that are listed.
        private static let candidatesMax = 100

        /// Prepares the terminal of standard input and output.
        ///
        /// - Throws: `CommandError` if it cannot be used.
        init(complete: @escaping (String) -> Completion) throws(CommandError) {
            guard let recalled = history_init() else { throw Self.failure }
            self.complete = complete
            self.recalled = recalled
            editor = stitch_edit_open(
                "stitchsync", Unmanaged.passUnretained(self).toOpaque(), recalled,
                { LineEditor.of($0)?.prompt },
                { editor, _ in LineEditor.of(editor)?.completeWord() ?? LineEditor.done },
                { editor, _ in LineEditor.of(editor)?.interrupt() ?? LineEditor.done })
            guard editor != nil else { throw Self.failure }
        }

        deinit {
            if let editor { el_end(editor) }
            history_end(recalled)
            free(prompt)
        }

        /// Whether the terminal can move its cursor.
        static var isPossible: Bool {
            guard let name = getenv("TERM").map({ String(cString: $0) }) else { return false }
            return name != "dumb" && !name.isEmpty
        }

        /// Reads a line.
        ///
        /// - Parameter history: the older lines, the newest last.
        /// - Throws: `CommandError` if the terminal cannot be used.
        func read(prompt: String, _ history: [String]) throws(CommandError) -> Entry {
            guard let editor else { throw Self.failure }
            free(self.prompt)
            self.prompt = strdup(prompt)
            stitch_edit_clear(recalled, Int32(history.count + 1))
            for line in history { stitch_edit_remember(recalled, line) }
            isInterrupted = false
            undecided = nil
            el_resize(editor)
            stitch_edit_prepare(editor)
            var count: Int32 = 0
            guard let bytes = el_gets(editor, &count), count > 0 else {
                try output.write(Array("\n".utf8))
                return .end
            }
            if isInterrupted { return .interrupted }
            let line = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return .line(String(decoding: line.prefix { $0 != 0x0a && $0 != 0x0d }, as: UTF8.self))
        }

        private static var failure: CommandError { CommandError("the terminal cannot be used") }

        // MARK: Keys

        /// The answer of a key after which libedit changes nothing.
        private static var done: UInt8 { UInt8(CC_NORM) }

        /// The editor that opened an editor of libedit.
        private static func of(_ editor: OpaquePointer?) -> LineEditor? {
            stitch_edit_owner(editor).map {
                Unmanaged<LineEditor>.fromOpaque($0).takeUnretainedValue()
            }
        }

        /// Leaves the line as it is on the screen.
        private func interrupt() -> UInt8 {
            isInterrupted = true
            el_cursor(editor, Int32(textAroundCursor.after.unicodeScalars.count))
            el_insertstr(editor, "^C")
            el_push(editor, "\n")
            return UInt8(CC_REFRESH)
        }

        private func completeWord() -> UInt8 {
            let text = textAroundCursor.before
            let found = complete(text)
            guard var common = found.candidates.first else { return UInt8(CC_ERROR) }
            for candidate in found.candidates {
                while !candidate.hasPrefix(common) { common.removeLast() }
            }
            let isDecided = found.candidates.count == 1
            if isDecided || common.unicodeScalars.count > found.length {
                el_deletestr(editor, Int32(found.length))
                el_insertstr(editor, common)
                undecided = isDecided ? nil : textAroundCursor.before
                return UInt8(isDecided ? CC_REFRESH : CC_REFRESH_BEEP)
            }
            guard let undecided, undecided.hasSameBytes(as: text) else {
                undecided = text
                return UInt8(CC_ERROR)
            }
            do {
                try list(found.candidates)
            } catch {
                return UInt8(CC_FATAL)
            }
            stitch_edit_refresh(editor)
            return Self.done
        }

        private var textAroundCursor: (before: String, after: String) {
            guard let line = el_line(editor)?.pointee, let first = line.buffer,
                let cursor = line.cursor, let last = line.lastchar
            else { return ("", "") }
            func text(_ start: UnsafePointer<CChar>, _ end: UnsafePointer<CChar>) -> String {
                String(
                    decoding: UnsafeRawBufferPointer(start: start, count: end - start),
                    as: UTF8.self)
            }
            return (text(first, cursor), text(cursor, last))
        }

        /// Writes candidates in columns below the line.
        private func list(_ candidates: [String]) throws(CommandError) {
            let shown = candidates.prefix(Self.candidatesMax)
            let width = (shown.map(\.count).max() ?? 0) + 2
            let perRow = max(1, columns / width)
            var text = "\n"
            for (index, candidate) in shown.enumerated() {
                let isLast = index % perRow == perRow - 1 || index == shown.count - 1
                text += candidate
                text += isLast ? "\n" : String(repeating: " ", count: width - candidate.count)
            }
            if candidates.count > shown.count {
                text += "… \(candidates.count - shown.count) more\n"
            }
            try output.write(Array(text.utf8))
        }

        /// The columns of the terminal.
        private var columns: Int {
            var size = winsize()
            guard ioctl(output.number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
                return 80
            }
            return Int(size.ws_col)
        }
    }
#endif
