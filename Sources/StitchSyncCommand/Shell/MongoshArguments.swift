#if CommandLine
    import ArgumentParser
    import Foundation

    /// The options of `stitchsync shell` that have the names of mongosh's.
    struct MongoshArguments: ParsableArguments {
        @Option(name: [.customShort("u"), .long], help: "The user, as --user.")
        var username: String?

        @Option(
            name: [.customShort("p"), .long],
            help: "The user's password, which other users of the computer can see.")
        var password: String?

        @Option(name: .customLong("authenticationDatabase"), help: "The database of the user.")
        var authenticationDatabase: String?

        @Option(help: "The server's host, if no place is given.")
        var host: String?

        @Option(help: "The server's port, if no place is given.")
        var port: Int?

        @Flag(help: "Connect by TLS.")
        var tls = false

        @Option(
            name: .customLong("tlsCAFile"), help: "The certificates of the authorities, in PEM.",
            completion: .file())
        var tlsCAFile: String?

        @Flag(help: "Run without a server, on an empty store in memory.")
        var nodb = false

        @Flag(help: "Accepted; the shell reads no file of settings.")
        var norc = false

        /// Whether an argument in the place of a server is a script.
        static func isScript(_ argument: String) -> Bool {
            !SessionRemote.isServer(argument)
                && [".js", ".cjs", ".mongodb"].contains { argument.hasSuffix($0) }
        }

        /// Returns the URI of the server that the options name, or the file.
        ///
        /// - Throws: an error if nothing names one.
        func address(_ place: String?) throws -> String {
            if nodb { return ShellRun.noPlace }
            var address = place ?? ""
            if place == nil {
                guard host != nil || port != nil else {
                    throw ValidationError("Missing expected argument '<place>'")
                }
                address = "mongodb://\(host ?? "127.0.0.1")"
                if let port, host?.contains(":") != true { address += ":\(port)" }
                address += "/"
            }
            guard SessionRemote.isServer(address) else { return address }
            if let username {
                address.replace("://", with: "://" + credentials(username), maxReplacements: 1)
            }
            var options: [String] = []
            if let authenticationDatabase {
                options.append("authSource=\(Self.escaped(authenticationDatabase))")
            }
            if tls { options.append("tls=true") }
            if let tlsCAFile { options.append("tlsCAFile=\(Self.escaped(tlsCAFile))") }
            guard !options.isEmpty else { return address }
            if address.split(separator: "/").count < 3, !address.hasSuffix("/") { address += "/" }
            return address + (address.contains("?") ? "&" : "?") + options.joined(separator: "&")
        }

        private func credentials(_ user: String) -> String {
            guard let password else { return Self.escaped(user) + "@" }
            return "\(Self.escaped(user)):\(Self.escaped(password))@"
        }

        private static func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }

        /// Returns the arguments with the forms that the parser does not have in those that it has.
        static func translated(_ arguments: [String]) -> [String] {
            if ["find", "aggregate"].contains(arguments.first ?? "") {
                return arguments.map { argument in
                    switch argument {
                    case "--json=canonical": "--canonical"
                    case "--json=relaxed": "--relaxed"
                    default: argument
                    }
                }
            }
            guard arguments.first == "shell" else { return arguments }
            return arguments.map { argument in
                switch argument {
                case "--json=canonical": "--canonical"
                case "--json=relaxed": "--json"
                default: argument
                }
            }
        }
    }
#endif
