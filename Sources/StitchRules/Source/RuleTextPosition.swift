/// The place of a rule in the text of its file.
package struct RuleTextPosition: Sendable, Hashable {
    /// The line, from 1.
    package let line: Int
    /// The column in bytes, from 1.
    package let column: Int

    /// Finds the key or element that a path names, such as `roles[0].document_filters.read`.
    ///
    /// A part of the path that the text does not have is left out.
    package init(of path: String, in text: [UInt8]) {
        var scanner = JSONScanner(text)
        scanner.skipSpace()
        var found = scanner.at
        for step in Self.steps(Array(path.utf8)) {
            let isFound =
                switch step {
                case .key(let key): scanner.enter(key: key)
                case .index(let index): scanner.enter(index: index)
                }
            guard let place = isFound else { break }
            found = place
        }
        let before = text[..<min(found, text.count)]
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        column = before.count - start + 1
    }

    private enum Step {
        case key([UInt8])
        case index(Int)
    }

    /// Returns the steps of a path as `RuleSourceLocation` writes them.
    private static func steps(_ path: [UInt8]) -> [Step] {
        let (quote, close, dot) = (UInt8(ascii: "\""), UInt8(ascii: "]"), UInt8(ascii: "."))
        let open = UInt8(ascii: "[")
        var (steps, at): ([Step], Int) = ([], 0)
        while at < path.count {
            if path[at] == dot { at += 1 }
            guard at < path.count, path[at] == open else {
                let end = path[at...].firstIndex { $0 == dot || $0 == open } ?? path.count
                steps.append(.key(Array(path[at..<end])))
                at = end
                continue
            }
            guard at + 1 < path.count, path[at + 1] == quote else {
                let end = path[at...].firstIndex(of: close) ?? path.count
                let number = Int(String(decoding: path[(at + 1)..<end], as: UTF8.self))
                steps.append(.index(number ?? 0))
                at = min(end + 1, path.count)
                continue
            }
            var end = at + 2
            while end < path.count, !(path[end] == quote && path[safely: end + 1] == close) {
                end += 1
            }
            steps.append(.key(Array(path[(at + 2)..<min(end, path.count)])))
            at = min(end + 2, path.count)
        }
        return steps
    }
}

/// A reader of JSON text that only looks for places.
private struct JSONScanner {
    private let text: [UInt8]
    /// The place of the next byte.
    private(set) var at = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func skipSpace() {
        while let byte = text[safely: at], [0x20, 0x09, 0x0A, 0x0D].contains(byte) { at += 1 }
    }

    /// Moves to the value of a key of the object here, and returns the key's place; `nil` without it.
    mutating func enter(key: [UInt8]) -> Int? {
        guard take("{") else { return nil }
        while true {
            skipSpace()
            let place = at
            guard let found = string() else { return nil }
            skipSpace()
            guard take(":") else { return nil }
            skipSpace()
            if found == key { return place }
            skipValue()
            skipSpace()
            guard take(",") else { return nil }
        }
    }

    /// Moves to an element of the array here, and returns its place; `nil` without it.
    mutating func enter(index: Int) -> Int? {
        guard take("[") else { return nil }
        for _ in 0..<max(0, index) {
            skipSpace()
            skipValue()
            skipSpace()
            guard take(",") else { return nil }
        }
        skipSpace()
        return at
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard text[safely: at] == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    /// Moves behind a string, and returns its bytes without escapes decoded beyond the simple ones.
    private mutating func string() -> [UInt8]? {
        guard take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = text[safely: at], byte != UInt8(ascii: "\"") {
            at += 1
            if byte == UInt8(ascii: "\\"), let next = text[safely: at] {
                at += 1
                bytes.append(next)
            } else {
                bytes.append(byte)
            }
        }
        at += 1
        return bytes
    }

    private mutating func skipValue() {
        var depth = 0
        while let byte = text[safely: at] {
            switch Unicode.Scalar(byte) {
            case "\"": _ = string()
            case "{", "[":
                depth += 1
                at += 1
            case "}", "]":
                guard depth > 0 else { return }
                depth -= 1
                at += 1
            case ",":
                guard depth > 0 else { return }
                at += 1
                continue
            default: at += 1
            }
            let next = text[safely: at].map { Unicode.Scalar($0) }
            if depth == 0, next == nil || next == "," || next == "}" || next == "]" { return }
        }
    }
}

extension [UInt8] {
    fileprivate subscript(safely index: Int) -> UInt8? {
        indices.contains(index) ? self[index] : nil
    }
}
