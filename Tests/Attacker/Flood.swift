import TestProcesses
import BSONStore
import Foundation
import StitchWire
import SyncSimulation

/// One way to hold a server up with connections and messages; the seed decides how many.
struct Flood: Sendable {
    /// The ways.
    enum Kind: String, CaseIterable, Sendable {
        /// Connections that say nothing.
        case silent
        /// Messages that begin and do not end.
        case halfMessages
        /// Lengths that no message has, and those of the largest.
        case lengths
        /// Bytes that are no message.
        case garbage
        /// Messages with some other bytes.
        case mutilated
        /// Commands whose answers nobody reads.
        case pings
        /// Sign-ins with wrong passwords.
        case signIns
        /// Sessions of one user.
        case sessions
        /// Cursors of one user, with much behind each.
        case cursors
        /// Transactions of one user that read, or write, and do not end.
        case transactions
        /// Connections that are closed at once.
        case churn
    }

    let kind: Kind
    private let port: Int
    private let random: SimulationRandom

    init(kind: Kind, port: Int, seed: UInt64, stream: UInt64) {
        self.kind = kind
        self.port = port
        random = SimulationRandom(seed: seed, stream: stream)
    }

    /// Lets some time pass.
    static func pause() { poll(nil, 0, 10) }

    /// Floods; blocks.
    ///
    /// - Returns: the connections that are still open.
    func run() -> [WireClient] {
        var random = random
        let count = Int.random(in: 50...200, using: &random)
        switch kind {
        case .silent: return clients(count)
        case .halfMessages: return sent(count) { self.halfMessage(&random, $0) }
        case .lengths: return sent(count) { Self.header(Self.lengths[$0 % Self.lengths.count]) }
        case .garbage:
            return sent(count) { _ in
                (0..<Int.random(in: 1...4_096, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
        case .mutilated:
            return sent(count) { index in
                var bytes = WireClient.message(Self.find(index))
                for _ in 0..<3 {
                    bytes[Int.random(in: 4..<bytes.count, using: &random)] ^= 1 << (index % 8)
                }
                return bytes
            }
        case .pings: return pings(count / 10)
        case .signIns: return signIns(count)
        case .sessions, .cursors, .transactions: return commands(count)
        case .churn:
            for _ in 0..<count * 5 { _ = WireClient(port: port) }
            return []
        }
    }

    private func clients(_ count: Int) -> [WireClient] {
        (0..<count).compactMap { _ in WireClient(port: port) }
    }

    /// Connections that each sent some bytes, as far as the server took them.
    private func sent(_ count: Int, _ bytes: (Int) -> [UInt8]) -> [WireClient] {
        let clients = clients(count)
        for (index, client) in clients.enumerated() { client.send(bytes(index), waits: false) }
        return clients
    }

    private func halfMessage(_ random: inout SimulationRandom, _ index: Int) -> [UInt8] {
        let claimed = Int32.random(in: 1_000...47_000_000, using: &random)
        return Self.header(claimed) + [UInt8](repeating: UInt8(index % 256), count: 900)
    }

    private static let lengths: [Int32] = [
        -1, .min, .max, 0, 15, 16, 17, 47_999_999, 48_000_000, 48_000_001,
    ]

    private static func header(_ length: Int32) -> [UInt8] {
        [length, 1, 0, WireOpcode.message.rawValue].flatMap { number in
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
    }

    /// Sends until the server reads no more, and some rounds more.
    private func pings(_ count: Int) -> [WireClient] {
        let clients = clients(count)
        let some = (0..<500).flatMap { _ in
            WireClient.message(["hello": 1, "$db": "admin"])
        }
        for _ in 0..<20 {
            // A part of a message may be sent; what follows is garbage then.
            for client in clients { client.send(some, waits: false) }
            Self.pause()
        }
        return clients
    }
}

// MARK: - Commands

extension Flood {
    private static func find(_ index: Int) -> BSONDocument {
        ["find": "honest", "batchSize": 1, "$db": .string(WireLedger.database)]
    }

    /// Begins sign-ins, each by a connection of its own, and sends a wrong proof in each.
    private func signIns(_ count: Int) -> [WireClient] {
        let clients = clients(count)
        for (index, client) in clients.enumerated() {
            let user = index % 3 == 0 ? "ann" : "user \(index)"
            let start: BSONDocument = [
                "saslStart": 1, "mechanism": index % 2 == 0 ? "SCRAM-SHA-256" : "SCRAM-SHA-1",
                "payload": Self.payload("n,,n=\(user),r=nonce\(index)"), "$db": "admin",
            ]
            client.send(WireClient.message(start))
        }
        for client in clients {
            guard case .reply(let reply) = client.answer(within: .seconds(10)),
                case .binary(let payload)? = reply["payload"], let id = reply["conversationId"]
            else { continue }
            let said = String(decoding: payload.bytes, as: UTF8.self)
            let nonce = said.split(separator: ",").first ?? ""
            let proof = Self.payload(
                "c=biws,\(nonce),p=\(Data(repeating: 7, count: 32).base64EncodedString())")
            client.send(
                WireClient.message([
                    "saslContinue": 1, "conversationId": id, "payload": proof, "$db": "admin",
                ]))
        }
        return clients
    }

    private static func payload(_ text: String) -> BSONValue {
        .binary(BSONBinary(Array(text.utf8)))
    }

    /// Sends commands of many sessions by few connections.
    private func commands(_ count: Int) -> [WireClient] {
        let clients = clients(10)
        for index in 0..<count * clients.count {
            let client = clients[index % clients.count]
            client.send(WireClient.message(command(index)))
            _ = client.answer(within: AttackedServer.patience)
        }
        return clients
    }

    private func command(_ index: Int) -> BSONDocument {
        var random = SimulationRandom(seed: UInt64(index), stream: 9)
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        var command: BSONDocument = kind == .sessions ? ["startSession": 1] : Self.find(index)
        if kind == .transactions, index % 3 == 0 {
            command = WireLedger.insert([["n": .int64(Int64(index))]], in: "spoils")
            command["writeConcern"] = nil
        }
        command["$db"] = .string(WireLedger.database)
        if kind != .sessions {
            let id = BSONValue.binary(BSONBinary(bytes, subtype: 4))
            command["lsid"] = ["id": id]
        }
        if kind == .transactions {
            command["txnNumber"] = .int64(1)
            command["autocommit"] = false
            command["startTransaction"] = true
        }
        return command
    }
}
