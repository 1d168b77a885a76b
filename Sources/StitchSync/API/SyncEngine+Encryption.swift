import BSONStore

extension SyncEngine {
    /// Encrypts a store with another key: its documents, and the files beside them.
    ///
    /// Close the engine and the store first. If the call fails or the process ends meanwhile, call it
    /// again with the same keys before you open the store.
    ///
    /// ```swift
    /// await engine.close()
    /// store.close()
    /// try SyncEngine.changeKey(ofStoreAt: path, from: old, to: new)
    /// ```
    ///
    /// - Parameters:
    ///   - new: 32 bytes.
    ///   - pageBytes: the size of pages that the store was made with.
    /// - Throws: as `DocumentStore.changeKey(ofFileAt:from:to:pageBytes:)` does.
    public static func changeKey(
        ofStoreAt path: String, from old: [UInt8], to new: [UInt8], pageBytes: Int = 8_192
    ) throws {
        // The documents last: while they have the old key, the app calls this again.
        if case .file(let contents) = AttachmentCache.location(beside: .file(path)),
            LocalFile.exists(contents)
        {
            try DocumentStore.changeKey(
                ofFileAt: contents, from: old, to: new, pageBytes: pageBytes)
        }
        try DocumentStore.changeKey(ofFileAt: path, from: old, to: new, pageBytes: pageBytes)
    }
}
