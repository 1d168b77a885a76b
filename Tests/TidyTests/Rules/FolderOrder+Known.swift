extension FolderOrder {
    /// Uses that point the wrong way and are not mended yet, as "file: type"; the list may only shrink.
    static let wrongDirections: [String] = []
}
