#if CommandLine
    import ArgumentParser

    /// The user as whom a command signs in to a server, and the file of the password.
    protocol ServerSignIn {
        /// The user's name; `nil` for the URI's user, or none.
        var user: String? { get }
        /// The file whose first line is the password; `nil` for the variable or the terminal.
        var passwordFile: String? { get }
        /// The option that names the user.
        var userOption: String { get }
    }

    extension ServerSignIn {
        var userOption: String { "--user" }

        /// The name of the first option that the user gave; `nil` if the user gave none.
        var firstOption: String? {
            user != nil ? userOption : passwordFile != nil ? "--password-file" : nil
        }

        /// - Throws: `CommandError` if the user gave an option, which a store file does not know.
        func check(file: String) throws(CommandError) {
            if let option = firstOption {
                throw CommandError("\(option) needs a server; \(file) is a file")
            }
        }
    }

    /// The user as whom a command signs in to a server.
    struct SignInArguments: ParsableArguments, ServerSignIn {
        @Option(help: "The user of a server, if the URI names none.")
        var user: String?

        @Option(
            help: """
                The file whose first line is the user's password; without it, the variable \
                STITCHSYNC_PASSWORD, or the terminal.
                """, completion: .file())
        var passwordFile: String?

        /// Returns a server's address with the user and the password; other places as they are.
        ///
        /// Warns of a password that the command line shows.
        func address(of place: String) throws -> String {
            try HiddenPassword.warn(of: place)
            return try SignInAddress(place, user: user, passwordFile: passwordFile).text
        }
    }

    /// The administrator as whom a command that creates users signs in to a server.
    ///
    /// Its password has an option of its own, since `--password-file` is the new user's.
    struct AdministratorArguments: ParsableArguments {
        @Option(help: "The administrator of a server, if the URI names none.")
        var user: String?

        @Option(
            help: """
                The file whose first line is the administrator's password; without it, the \
                variable STITCHSYNC_PASSWORD, or the terminal.
                """, completion: .file())
        var userPasswordFile: String?

        /// Returns a server's address with the user and the password; other places as they are.
        ///
        /// Warns of a password that the command line shows.
        func address(of place: String) throws -> String {
            try HiddenPassword.warn(of: place)
            return try SignInAddress(place, user: user, passwordFile: userPasswordFile).text
        }
    }

    /// A server's address with a user.
    struct SignInAddress: Sendable {
        let text: String

        /// - Throws: `CommandError` for a place that is a file, or names a user already.
        init(_ place: String, user: String?, passwordFile: String?) throws {
            guard let user else {
                text = try Self.completed(place, passwordFile: passwordFile)
                return
            }
            guard let scheme = place.firstRange(of: "://") else {
                throw CommandError("--user needs a server; \(place) is a file")
            }
            let rest = place[scheme.upperBound...]
            guard !rest.prefix(while: { $0 != "/" && $0 != "?" }).contains("@") else {
                throw CommandError("the address names a user already; leave out --user")
            }
            let password = try ShellPassword.read(file: passwordFile)
            text =
                "\(place[..<scheme.upperBound])\(Self.encoded(user)):\(Self.encoded(password))"
                + "@\(rest)"
        }

        /// Returns an address with the password of its user, if it names a user without one.
        private static func completed(_ place: String, passwordFile: String?) throws -> String {
            guard let scheme = place.firstRange(of: "://"), needsPassword(place) else {
                return place
            }
            let rest = place[scheme.upperBound...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard let end = authority.lastIndex(of: "@"), !authority[..<end].contains(":") else {
                return place
            }
            let password = encoded(try ShellPassword.read(file: passwordFile))
            return "\(place[..<end]):\(password)\(place[end...])"
        }

        /// Whether the way to sign in that an address names, if it names one, is by a password.
        private static func needsPassword(_ place: String) -> Bool {
            let named = place.firstRange(of: "authMechanism=").map { place[$0.upperBound...] }
            return named?.hasPrefix("SCRAM") ?? true
        }

        private static func encoded(_ text: String) -> String {
            text.utf8.reduce(into: "") { result, byte in
                let scalar = Unicode.Scalar(byte)
                let isPlain =
                    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                    || ("0"..."9").contains(scalar)
                let hex = String(byte, radix: 16, uppercase: true)
                result += isPlain ? String(scalar) : "%\(hex.count < 2 ? "0" : "")\(hex)"
            }
        }
    }
#endif
