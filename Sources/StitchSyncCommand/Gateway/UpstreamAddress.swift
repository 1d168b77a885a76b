#if CommandLine
    import Foundation

    /// The URI of a gateway's upstream, which may hold a password.
    enum UpstreamAddress {
        /// The URI in the environment variable `STITCHSYNC_UPSTREAM`.
        static var inEnvironment: String? {
            ProcessInfo.processInfo.environment["STITCHSYNC_UPSTREAM"].flatMap {
                $0.isEmpty ? nil : $0
            }
        }

        /// Overwrites the URI among the arguments that the system shows to others, as in `ps`.
        static func hide(_ uri: String) {
            for index in 1..<max(1, Int(CommandLine.argc)) {
                guard let argument = CommandLine.unsafeArgv[index],
                    String(cString: argument).hasSuffix(uri)
                else { continue }
                let count = strlen(argument)
                let hidden = Array("(hidden)".utf8)
                for place in 0..<count {
                    argument[place] = place < hidden.count ? CChar(bitPattern: hidden[place]) : 0
                }
            }
        }
    }
#endif
