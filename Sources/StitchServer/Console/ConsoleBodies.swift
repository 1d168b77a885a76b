internal import BSONStore

/// The memory of the bodies of all requests that the console has not answered yet.
final class ConsoleBodies: Sendable {
    /// The largest body of a request, in bytes: a document as Extended JSON.
    static let bytesMax = 48 * 1024 * 1024
    /// The largest body of a request of a browser that is not signed in, in bytes.
    static let bytesOfStrangerMax = 64 * 1024
    /// The largest size of all bodies together, in bytes.
    static let bytesInAllMax = 2 * bytesMax

    private let taken = Locked(0)

    /// The size of all bodies, in bytes.
    var byteCount: Int { taken.withLock { $0 } }

    /// Takes room for a part of a body, and returns whether there was some.
    func take(_ count: Int) -> Bool {
        taken.withLock { taken in
            guard taken + count <= Self.bytesInAllMax else { return false }
            taken += count
            return true
        }
    }

    /// Returns room that a body took.
    func give(_ count: Int) { taken.withLock { $0 -= count } }
}

/// The body of a request that arrives in parts.
struct ArrivingBody: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The reason why the body is not kept; the parts that follow are not, either.
    private(set) var fault: ConsoleFault?
    private let room: ConsoleBodies
    private let isOfStranger: Bool

    /// - Parameter isOfStranger: whether the browser is not signed in.
    init(in room: ConsoleBodies, isOfStranger: Bool) {
        self.room = room
        self.isOfStranger = isOfStranger
    }

    /// Adds a part, or drops the body if it is too large.
    mutating func add(_ part: some Collection<UInt8>) {
        guard fault == nil else { return }
        let count = bytes.count + part.count
        if isOfStranger, count > ConsoleBodies.bytesOfStrangerMax {
            drop(
                ConsoleFault(
                    401,
                    "sign in first: a browser that is not signed in sends at most "
                        + "\(ConsoleBodies.bytesOfStrangerMax) bytes"))
        } else if count > ConsoleBodies.bytesMax {
            drop(
                ConsoleFault(
                    413, "the request has more than \(ConsoleBodies.bytesMax) bytes; send less"))
        } else if !room.take(part.count) {
            drop(
                ConsoleFault(
                    503,
                    "all requests of the console together have \(ConsoleBodies.bytesInAllMax) "
                        + "bytes, and no more may be; try again"))
        } else {
            bytes += part
        }
    }

    private mutating func drop(_ fault: ConsoleFault) {
        self.fault = fault
        giveBack()
        bytes = []
    }

    /// Returns the body's room; the body is not used afterwards.
    func giveBack() { room.give(bytes.count) }
}
