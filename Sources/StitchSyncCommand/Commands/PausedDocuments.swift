#if CommandLine
    import BSONStore
    import Foundation
    import StitchSync

    /// The paused documents of a collection before a command writes to it, which ends pauses.
    struct PausedDocuments: Sendable {
        private let path: String
        private let namespace: Namespace
        private let ids: [BSONValue]

        /// Reads the paused documents; a server and a missing file have none.
        init(at place: StoreArguments) async throws {
            (path, namespace) = (place.store, place.namespace)
            let isFile = !place.isServer && FileManager.default.fileExists(atPath: path)
            ids = isFile ? try await Self.ids(path, namespace) : []
        }

        /// Returns how many of the documents are no longer paused.
        func countResumed() async throws -> Int {
            guard !ids.isEmpty else { return 0 }
            let left = try await Self.ids(path, namespace)
            return ids.count { !left.contains($0) }
        }

        private static func ids(_ path: String, _ namespace: Namespace) async throws -> [BSONValue]
        {
            let store = try StoreOpening.inspecting(at: path)
            defer { store.close() }
            return try await SyncEngine(lookingAt: store).collection(namespace).pausedIDs
        }
    }
#endif
