public import BSONStore

/// How much of a file a remote has.
public enum RemoteAttachmentState: Sendable, Hashable {
    /// The number of bytes from the beginning that the remote has; the next ones may follow.
    case partial(Int64)
    /// The remote has the whole file, with the hash that the reference names.
    case complete
    /// No document refers to the file, as far as the user may know, or the file belongs to another
    /// document.
    case unknown
}

/// The files beside documents that a remote keeps.
///
/// Files are sent and read in pieces, so that a cut connection costs one piece. A remote gives a file to
/// those users who read the reference in the document, and takes it from those who may change it.
public protocol RemoteAttachments: Sendable {
    /// The number of pieces of one file that may be on their way at once; 1 unless a remote says more.
    ///
    /// More are of use where the remote handles requests in the order in which they were sent. Where
    /// one overtakes another one, ``put(_:at:of:)`` stores nothing of it, and the piece is sent again.
    var putsAhead: Int { get }

    /// Returns how much of a file the remote has.
    func state(
        of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState

    /// Stores bytes of a file; the last ones make it complete.
    ///
    /// - Parameters:
    ///   - bytes: all remaining bytes, or a multiple of ``AttachmentPieces/unit`` bytes.
    ///   - offset: the place of the bytes in the file. If the remote expects others, it stores nothing.
    /// - Returns: the state afterwards: `.partial(0)` if the whole content does not have the hash that
    ///   the reference names, which the remote then forgets.
    func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState

    /// Reads bytes of a file.
    ///
    /// - Returns: the bytes, fewer at the end of the file; `nil` where the remote does not have the
    ///   whole file, or does not show it to the user.
    func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int
    ) async throws(RemoteError) -> [UInt8]?
}

extension RemoteAttachments {
    /// One piece.
    public var putsAhead: Int { 1 }
}

/// The pieces in which files are sent.
public enum AttachmentPieces {
    /// The number of bytes of a chunk in GridFS, 255 KiB, of which pieces are multiples.
    public static let unit = AttachmentBucket.chunkSize
    /// The number of bytes of a large piece, about 1 MB.
    public static let sizeMax = AttachmentBucket.chunkSize * AttachmentBucket.chunksPerMessage
    /// The number of pieces of one file under way at once, at most: 4 MiB on each side.
    public static let aheadMax = 4
}
