#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads lines from a terminal, with keys that edit them, a history and completion.
///
/// The keys are those of Emacs and of most shells. While no line is read, the terminal works as
/// usual.
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
        /// The number of characters that are replaced.
        var length = 0
        /// The texts.
        var candidates: [String] = []
    }

    private let input: Descriptor
    private let output: Descriptor
    private let complete: (String) -> Completion
    private var buffered: ArraySlice<UInt8> = []
    private var line = LineBuffer()
    private var prompt = ""
    /// The row of the cursor below the first one of the line.
    private var row = 0
    /// The largest number of candidates that are listed.
    private static let candidatesMax = 100

    init(
        input: Descriptor = .input, output: Descriptor = .output,
        complete: @escaping (String) -> Completion
    ) {
        self.input = input
        self.output = output
        self.complete = complete
    }

    /// Whether the terminal can move its cursor.
    static var isPossible: Bool {
        guard let name = getenv("TERM").map({ String(cString: $0) }) else { return false }
        return name != "dumb" && !name.isEmpty
    }

    /// Reads a line.
    ///
    /// - Throws: `CommandError` if the terminal cannot be used.
    func read(prompt: String, _ history: [String]) throws(CommandError) -> Entry {
        var settings = termios()
        guard tcgetattr(input.number, &settings) == 0 else {
            throw CommandError("the terminal cannot be set")
        }
        var usual = settings
        cfmakeraw(&settings)
        settings.c_oflag |= tcflag_t(OPOST)
        tcsetattr(input.number, TCSADRAIN, &settings)
        defer { tcsetattr(input.number, TCSADRAIN, &usual) }
        self.prompt = prompt
        line.replace(with: "")
        row = 0
        try write("\u{1b}[?2004h")
        try draw()
        let entry = try edit(history)
        line.move(to: line.characters.count)
        try draw()
        try write("\u{1b}[?2004l" + (entry == .interrupted ? "^C\n" : "\n"))
        return entry
    }

    // MARK: Keys

    private func edit(_ history: [String]) throws(CommandError) -> Entry {
        var lines = history + [""]
        var place = history.count
        func recall(_ next: Int) {
            guard lines.indices.contains(next) else { return }
            lines[place] = line.text
            place = next
            line.replace(with: lines[next])
        }
        while true {
            guard let key = try key() else { return .end }
            switch key {
            case .enter: return .line(line.text)
            case .control("c"): return .interrupted
            case .control("d"):
                if line.characters.isEmpty { return .end }
                line.removeBehind()
            case .up, .control("p"): recall(place - 1)
            case .down, .control("n"): recall(place + 1)
            case .control("r"): try search(lines)
            case .tab: try completeWord()
            case .pasteStart: if let entry = try paste() { return entry }
            case .control("l"):
                try write("\u{1b}[H\u{1b}[2J")
                row = 0
            default: apply(key)
            }
            try draw()
        }
    }

    /// Applies a key that changes the line only.
    private func apply(_ key: TerminalKey) {
        switch key {
        case .text(let text): line.insert(text)
        case .backspace: line.removeBefore()
        case .delete: line.removeBehind()
        case .left, .control("b"): line.move(by: -1)
        case .right, .control("f"): line.move(by: 1)
        case .home, .control("a"): line.move(to: 0)
        case .end, .control("e"): line.move(to: line.characters.count)
        case .wordLeft, .meta("b"): line.move(to: line.wordStart)
        case .wordRight, .meta("f"): line.move(to: line.wordEnd)
        case .control("k"): line.cut(to: line.characters.count)
        case .control("u"): line.cut(to: 0)
        case .control("w"), .meta("\u{7f}"): line.cut(to: line.wordStart)
        case .meta("d"): line.cut(to: line.wordEnd)
        case .control("y"): line.paste()
        case .control("t"): line.exchange()
        case .control, .meta, .enter, .tab, .up, .down, .pasteStart, .pasteEnd, .unknown: break
        }
    }

    /// Inserts a text from the clipboard; a line end in it is Enter.
    private func paste() throws(CommandError) -> Entry? {
        while let key = try key() {
            switch key {
            case .pasteEnd: return nil
            case .text(let text): line.insert(text)
            case .tab: line.insert("    ")
            case .enter:
                // What follows is read as typed.
                return .line(line.text)
            default: break
            }
        }
        return .end
    }

    /// Looks for an older line by a part of it.
    private func search(_ lines: [String]) throws(CommandError) {
        let usual = prompt
        defer { prompt = usual }
        var (wanted, place) = ("", lines.count)
        func find(below end: Int) {
            guard
                let found = lines[..<end].lastIndex(where: {
                    !$0.isEmpty && $0.contains(wanted)
                })
            else { return }
            place = found
            line.replace(with: lines[found])
        }
        while true {
            prompt = "(search)`\(wanted)': "
            try draw()
            switch try key() {
            case .text(let text):
                wanted += text
                find(below: lines.count)
            case .backspace:
                if !wanted.isEmpty { wanted.removeLast() }
                find(below: lines.count)
            case .control("r"): find(below: place)
            default: return
            }
        }
    }

    private func completeWord() throws(CommandError) {
        let found = complete(line.textBeforeCursor)
        guard var common = found.candidates.first else { return }
        for candidate in found.candidates {
            while !candidate.hasPrefix(common) { common.removeLast() }
        }
        if common.count > found.length || found.candidates.count == 1 {
            for _ in 0..<found.length { line.removeBefore() }
            line.insert(common)
        } else {
            try list(found.candidates)
        }
    }

    /// Writes candidates in columns below the line.
    private func list(_ candidates: [String]) throws(CommandError) {
        let shown = candidates.prefix(Self.candidatesMax)
        let width = (shown.map { TextWidth.columns(of: $0) }.max() ?? 0) + 2
        let perRow = max(1, columns / width)
        var text = "\n"
        for (index, candidate) in shown.enumerated() {
            text += candidate
            let isLast = index % perRow == perRow - 1 || index == shown.count - 1
            text +=
                isLast
                ? "\n"
                : String(repeating: " ", count: width - TextWidth.columns(of: candidate))
        }
        if candidates.count > shown.count { text += "… \(candidates.count - shown.count) more\n" }
        try write(text)
        row = 0
    }

    // MARK: The terminal

    private func key() throws(CommandError) -> TerminalKey? {
        try TerminalKey.read { () throws(CommandError) in try byte() }
    }

    private func byte() throws(CommandError) -> UInt8? {
        if let byte = buffered.popFirst() { return byte }
        buffered = try input.read(countMax: 1_024)[...]
        return buffered.popFirst()
    }

    private func write(_ text: String) throws(CommandError) { try output.write(Array(text.utf8)) }

    /// The columns of the terminal.
    private var columns: Int {
        var size = winsize()
        guard ioctl(output.number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }

    /// Writes the line anew, and moves the cursor to its place.
    private func draw() throws(CommandError) {
        let width = columns
        let before = TextWidth.columns(of: prompt)
        let all = before + TextWidth.columns(of: line.characters)
        let cursor = before + TextWidth.columns(of: line.characters[..<line.cursor])
        var text = row > 0 ? "\u{1b}[\(row)A" : ""
        text += "\r\u{1b}[J" + prompt + line.text
        // A terminal moves to the next row only with the next character.
        if all > 0, all % width == 0 { text += "\n" }
        let up = all / width - cursor / width
        if up > 0 { text += "\u{1b}[\(up)A" }
        text += "\r"
        if cursor % width > 0 { text += "\u{1b}[\(cursor % width)C" }
        row = cursor / width
        try write(text)
    }
}
