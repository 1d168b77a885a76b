import Foundation

/// Reads and writes lines.
enum Terminal {
    /// Writes a line at once, whoever else writes.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// The lines of a script, or those that are typed.
    static func lines(of script: String?) throws -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        if let script {
            let text = try String(contentsOf: URL(filePath: script), encoding: .utf8)
            for line in text.split(separator: "\n") { continuation.yield(String(line)) }
            continuation.finish()
        } else {
            // Reading waits for a person, for which no task's thread may be taken.
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
        return lines
    }
}
