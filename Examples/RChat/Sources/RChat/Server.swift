import BSONStore
import StitchMongo
import StitchSync

/// Reaches the server.
enum Server {
    /// The server as one of its users sees it.
    static func remote(_ address: String, user: String) throws -> any Remote {
        #if MongoRemote
            // As in every chat to try out, the password is the name.
            try MongoRemote(uri: "mongodb://\(user):\(user)@\(address)/?authSource=admin")
        #else
            throw ChatFailure("built without the trait MongoRemote")
        #endif
    }
}
