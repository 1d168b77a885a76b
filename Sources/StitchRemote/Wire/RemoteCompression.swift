#if Remote
    internal import BSONStore

    /// The connections of a remote that compress what they carry.
    ///
    /// ```swift
    /// var options = ServerRemote.Options()
    /// options.compression = .always
    /// ```
    public enum RemoteCompression: Sendable, Hashable, CaseIterable {
        /// Connections to a server that takes 5 ms or longer to answer the first message.
        ///
        /// On faster ones, compression costs more time than it saves.
        case automatic
        /// All connections, if the server agrees.
        case always
        /// No connection.
        case never
    }
#endif
