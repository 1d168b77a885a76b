/// The databases of a server that hold no documents of its users.
enum ServerDatabase {
    /// The database of a server's own journals, such as the denied writes.
    static let journals = "stitchsync"

    static let system = ["admin", "config", "local", journals]
}
