#if MongoRemote
    /// The threads that libmongoc's calls run on.
    struct LibmongocThreads: Sendable {
        /// The threads that run requests.
        let requests: MongoThreads
        /// The threads that wait for changes, which must not delay requests.
        let waits: MongoThreads
    }
#endif
