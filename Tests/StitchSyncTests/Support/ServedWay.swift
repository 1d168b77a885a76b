import StitchMongo
import StitchRemote
import StitchSync

/// A way for devices to reach a server, by one of the remotes that speak MongoDB's protocol.
///
/// Scenarios with a server run over each; a further remote is a case here, and a line in
/// ``remote(to:)``.
enum ServedWay: Sendable, Hashable, CaseIterable {
    #if Remote
        /// Over connections of our own.
        case swift
    #endif
    #if MongoRemote
        /// Through libmongoc.
        case libmongoc
    #endif

    /// The longest wait for a server, which may answer late beside many other tests.
    private static let patience = Duration.seconds(120)

    /// Makes a remote that has not connected yet.
    func remote(to address: ServedAddress) throws -> any ClosableRemote {
        switch self {
        #if Remote
            case .swift:
                var options = ServerRemote.Options()
                options.usesBulkWrite = address.inBulk
                options.serverSelectionTimeout = Self.patience
                options.connectTimeout = Self.patience
                options.socketTimeout = Self.patience
                // Proxies of tests read the commands that pass.
                options.compression = .never
                return try ServerRemote(address.uri, options: options)
        #endif
        #if MongoRemote
            case .libmongoc:
                var options = MongoRemote.Options()
                options.usesBulkWrite = address.inBulk
                options.serverSelectionTimeout = Self.patience
                return try MongoRemote(uri: address.uri, options: options)
        #endif
        }
    }
}

/// A remote whose connections a test can close.
protocol ClosableRemote: Remote {
    /// Closes all connections; later calls fail.
    func close() async
}

#if Remote
    extension ServerRemote: ClosableRemote {}
#endif

#if MongoRemote
    extension MongoRemote: ClosableRemote {}
#endif
