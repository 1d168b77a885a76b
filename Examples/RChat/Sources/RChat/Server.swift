import BSONStore
import StitchSync

#if Remote
    import StitchRemote
#endif

/// Reaches the server.
enum Server {
    /// The server as one of its users sees it.
    ///
    /// - Parameter addresses: several are gateways before one database, as `host:port,host:port`;
    ///   alice and bob use different ones.
    static func remote(_ addresses: String, user: String) throws -> any Remote {
        let all = addresses.split(separator: ",")
        let number = user.utf8.reduce(0) { $0 + Int($1) }
        guard let address = all.isEmpty ? nil : all[number % all.count] else {
            throw ChatFailure("no address of a server")
        }
        #if Remote
            // As in every chat to try out, the password is the name.
            return try ServerRemote("stitchsync://\(address)", signIn: .user(user, password: user))
        #else
            throw ChatFailure("built without the trait Remote")
        #endif
    }
}
