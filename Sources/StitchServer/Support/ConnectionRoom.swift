internal import BSONStore

/// The number of open connections to a port, in all and by address.
struct ConnectionRoom: Sendable {
    /// The maximum in all.
    let countMax: Int
    /// The maximum of one address.
    let ofOneMax: Int
    private var counts: [[UInt8]: Int] = [:]
    /// The number of open connections.
    private(set) var count = 0

    /// Creates room without connections.
    init(countMax: Int, ofOneMax: Int) {
        self.countMax = max(1, countMax)
        self.ofOneMax = max(1, min(ofOneMax, countMax))
    }

    /// The number of addresses with connections.
    var addressCount: Int { counts.count }

    /// Notes a new connection if there is room for it.
    ///
    /// - Returns: whether there is.
    mutating func open(_ address: [UInt8]) -> Bool {
        let own = counts[address, default: 0]
        guard count < countMax, own < ofOneMax else { return false }
        counts[address] = own + 1
        count += 1
        return true
    }

    /// Notes the end of a connection for which there was room.
    mutating func close(_ address: [UInt8]) {
        let own = counts[address, default: 0] - 1
        counts[address] = own > 0 ? own : nil
        count -= 1
    }
}
