#if CommandLine
    import BSONStore
    import StitchRemote

    /// The opening of a store file or a server that runs commands.
    struct ServerOpening: Sendable {
        /// Opens the file, or connects to the server.
        let connect: @Sendable () throws -> any ShellServer
        /// The database that a URI names.
        let database: String?

        /// Prepares the opening, and asks for a password where the sign-in needs one.
        ///
        /// - Parameter creates: whether a missing file is created.
        /// - Throws: `CommandError` for a file with options of a sign-in, which only servers know.
        init(_ place: String, _ signIn: some ServerSignIn, creates: Bool) throws {
            guard SessionRemote.isServer(place) else {
                try signIn.check(file: place)
                #if Server
                    // Opened as it is first, so that a missing file is not created.
                    if !creates { try StoreOpening.existing(place).close() }
                    database = nil
                    connect = { try FileShellServer(place) }
                    return
                #else
                    throw SessionRemote.lacksServers
                #endif
            }
            #if Remote
                try HiddenPassword.warn(of: place)
                let credentials =
                    try signIn.user.map {
                        try SignIn.user(
                            $0, password: ShellPassword.read(file: signIn.passwordFile))
                    } ?? SignIn.none
                let address =
                    signIn.user == nil
                    ? try SignInAddress(place, user: nil, passwordFile: signIn.passwordFile).text
                    : place
                database = try ServerRemote.database(namedBy: place)
                connect = {
                    try RemoteShellServer(place: place) {
                        try ServerRemote(address, signIn: credentials)
                    }
                }
            #else
                throw SessionRemote.lacksServers
            #endif
        }
    }
#endif
