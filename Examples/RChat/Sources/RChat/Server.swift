import BSONStore
import StitchSync

#if Remote
    import StitchRemote
#endif

/// Reaches the server.
enum Server {
    /// The server as one of its users sees it.
    static func remote(_ address: String, user: String) throws -> any Remote {
        #if Remote
            // As in every chat to try out, the password is the name.
            try ServerRemote("stitchsync://\(address)", signIn: .user(user, password: user))
        #else
            throw ChatFailure("built without the trait Remote")
        #endif
    }
}
