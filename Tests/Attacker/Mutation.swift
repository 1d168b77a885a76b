import Foundation
import SyncSimulation

/// Whose file it is.
enum AttackSide: String, Sendable {
    case device
    case remote

    /// Its name within the folder.
    var fileName: String { rawValue + ".stitch" }
    /// The one that stays whole.
    var other: AttackSide { self == .device ? .remote : .device }
}

/// What is done to one file; the seed decides all of it.
struct Mutation {
    /// Whose file is damaged.
    let side: AttackSide
    private let isLog: Bool
    private let kind: Kind
    private let random: SimulationRandom

    private enum Kind: String, CaseIterable {
        case flipByte
        case flipBytes
        case flipPageHeader
        case zeroPage
        case emptyPage
        case swapPages
        case copyPage
        case truncate
    }

    init(seed: UInt64) {
        var random = SimulationRandom(seed: seed)
        side = random.next() % 2 == 0 ? .device : .remote
        isLog = random.next() % 4 == 0
        kind = Kind.allCases[Int(random.next() % UInt64(Kind.allCases.count))]
        self.random = random
    }

    /// Damages the file; says what was done.
    func apply(in folder: String) throws -> String {
        let name = side.fileName + (isLog ? "-wal" : "")
        let url = URL(fileURLWithPath: "\(folder)/\(name)")
        var bytes = [UInt8](try Data(contentsOf: url))
        // A log has a header, and one before each page.
        let pages = Pages(
            first: isLog ? 32 : 0, header: isLog ? 24 : 0, size: 1_024, fileBytes: bytes.count)
        guard pages.count > 1 else { return "\(name): too short" }
        let what = damage(&bytes, pages)
        try Data(bytes).write(to: url)
        return "\(name): \(kind.rawValue) \(what)"
    }

    private struct Pages {
        let first: Int
        let header: Int
        let size: Int
        let fileBytes: Int
        var count: Int { (fileBytes - first) / (header + size) }

        func start(_ page: Int) -> Int { first + page * (header + size) + header }
    }

    private func damage(_ bytes: inout [UInt8], _ pages: Pages) -> String {
        var random = random
        func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        let page = below(pages.count)
        let (other, start) = (below(pages.count), pages.start(page))
        let content = bytes[start..<start + pages.size]
        switch kind {
        case .flipByte, .flipBytes:
            let places = (0..<(kind == .flipByte ? 1 : 8)).map { _ in below(bytes.count) }
            for place in places { bytes[place] ^= UInt8(1 + below(255)) }
            return "\(places)"
        case .flipPageHeader:
            let place = start + (page == 0 ? 100 : 0) + below(16)
            bytes[place] ^= UInt8(1 + below(255))
            return "\(place) of page \(page + 1)"
        case .zeroPage:
            for place in content.indices { bytes[place] = 0 }
            return "\(page + 1)"
        case .emptyPage:
            // Inner pages have types 2 and 5, leaves 10 and 13.
            let place = start + (page == 0 ? 100 : 0)
            bytes[place] = bytes[place] == 2 ? 10 : bytes[place] == 5 ? 13 : bytes[place]
            for offset in 1..<8 { bytes[place + offset] = 0 }
            bytes[place + 5] = UInt8(pages.size >> 8)
            return "\(page + 1)"
        case .swapPages:
            let there = pages.start(other)
            bytes.replaceSubrange(
                start..<start + pages.size, with: Array(bytes[there..<there + pages.size]))
            bytes.replaceSubrange(there..<there + pages.size, with: Array(content))
            return "\(page + 1) and \(other + 1)"
        case .copyPage:
            let there = pages.start(other)
            bytes.replaceSubrange(there..<there + pages.size, with: Array(content))
            return "\(page + 1) over \(other + 1)"
        case .truncate:
            let end = below(2) == 0 ? start : below(bytes.count)
            bytes.removeSubrange(end...)
            return "to \(end)"
        }
    }
}
