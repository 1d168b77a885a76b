#if CommandLine && Server
    import Foundation

    /// Reads a file of options for `stitchsync serve`.
    enum ServeConfiguration {
        /// The arguments that the lines of a file stand for; `#` begins a comment.
        ///
        /// - Throws: when the file cannot be read, and for a line that is no option.
        static func arguments(inFile path: String) throws -> [String] {
            try arguments(String(contentsOf: URL(filePath: path), encoding: .utf8), of: path)
        }

        /// The arguments that lines stand for.
        static func arguments(_ text: String, of path: String) throws(CommandError) -> [String] {
            var arguments: [String] = []
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            {
                let line = line.trimmingCharacters(in: .whitespaces)
                guard !line.isEmpty, !line.hasPrefix("#") else { continue }
                let parts = line.split(separator: "=", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                guard parts.count == 2, !parts[0].isEmpty, parts[0] != "config" else {
                    throw CommandError("\(path):\(index + 1): not `option = value`")
                }
                switch parts[1] {
                case "true": arguments.append("--\(parts[0])")
                case "false": break
                default: arguments += ["--\(parts[0])", parts[1]]
                }
            }
            return arguments
        }
    }
#endif
