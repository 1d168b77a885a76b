internal import BSONStore

/// The memory for large requests that wait: for a thread, for an event, or for other commands of their
/// connection.
///
/// An owner, which is a user or an address, may add a request while all its requests take no more than
/// is left. So one owner takes at most half, and the next ones half of the rest.
final class RequestRoom: Sendable {
    /// The size limit of all requests, in bytes.
    static let usualBytesMax = 512 * 1024 * 1024
    /// The largest size of a request that does not count, in bytes; other limits are on the number of
    /// these.
    static let smallBytes = 16 * 1024

    private struct State: Sendable {
        var bytes = 0
        var owners: [[UInt8]: Int] = [:]
    }

    private let bytesMax: Int
    private let state = Locked(State())

    /// Creates room that no request takes.
    init(bytesMax: Int = RequestRoom.usualBytesMax) { self.bytesMax = bytesMax }

    /// The size of all requests in bytes.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Takes room for a request; `nil` if its owner may have no more.
    func place(for bytes: Int, of owner: [UInt8]) -> RequestPlace? {
        guard bytes > Self.smallBytes else { return .small }
        let isRoom = state.withLock { state in
            let own = state.owners[owner, default: 0] + bytes
            guard own <= bytesMax - state.bytes else { return false }
            state.owners[owner] = own
            state.bytes += bytes
            return true
        }
        return isRoom ? RequestPlace(self, bytes, owner) : nil
    }

    fileprivate func give(_ bytes: Int, of owner: [UInt8]) {
        state.withLock { state in
            state.bytes -= bytes
            let own = state.owners[owner, default: 0] - bytes
            state.owners[owner] = own > 0 ? own : nil
        }
    }
}

/// The room that one waiting request takes until it leaves, or is dropped.
final class RequestPlace: Sendable {
    /// The place of requests that do not count.
    static let small = RequestPlace(nil, 0, [])

    private let room: RequestRoom?
    private let bytes: Locked<Int>
    private let owner: [UInt8]

    fileprivate init(_ room: RequestRoom?, _ bytes: Int, _ owner: [UInt8]) {
        self.room = room
        self.bytes = Locked(bytes)
        self.owner = owner
    }

    deinit { leave() }

    /// Returns the room to the others; further calls do nothing.
    func leave() {
        guard let room else { return }
        let taken = bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
        if taken > 0 { room.give(taken, of: owner) }
    }
}
