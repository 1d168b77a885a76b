#if CommandLine && Server
    import Foundation

    /// The parser of the option file of `stitchsync serve`.
    enum ServeConfiguration {
        /// Returns the arguments in a file; `#` begins a comment.
        ///
        /// - Throws: an error when the file cannot be read, or when a line is not an option.
        static func arguments(inFile path: String) throws -> [String] {
            try arguments(String(contentsOf: URL(filePath: path), encoding: .utf8), of: path)
        }

        /// Returns the arguments in some lines.
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
