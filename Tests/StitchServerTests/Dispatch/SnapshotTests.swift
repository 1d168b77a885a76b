@testable import BSONCore
@testable import BSONStore
import Foundation
import Testing

@testable import StitchServer

/// A state that is kept holds a thread, two files and the store's log: none is kept for ever.
@Suite(.timeLimit(.minutes(30))) struct SnapshotTests {
    private static func request(
        _ clock: ClusterClock, at time: BSONTimestamp? = nil
    ) throws -> SnapshotRequest {
        var concern: BSONDocument = ["level": "snapshot"]
        if let time { concern.append("atClusterTime", .timestamp(time)) }
        let definition = try #require(CommandTable.find("find"))
        return try #require(
            try SnapshotRequest(
                ["find": "things", "readConcern": .document(concern)], definition.signature, clock))
    }

    private static func withStore(_ body: (DocumentStore) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "states-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = try DocumentStore(at: .file(folder.appending(path: "store").path))
        try body(store)
        store.close()
        try FileManager.default.removeItem(at: folder)
    }

    private static func code(_ body: () throws -> Void) -> Int32? {
        do { try body() } catch { return CommandFailure(error).code }
        return nil
    }

    @Test("a state that is read all the time ends once it is too old")
    func lifetime() throws {
        try Self.withStore { store in
            let (table, clock) = (SnapshotTable(), ClusterClock())
            let new = try Self.request(clock)
            try table.read(new, of: [1], store) { _ in }
            let again = try Self.request(clock, at: new.time)
            table.endIdle(.seconds(600))
            #expect(Self.code { try table.read(again, of: [1], store) { _ in } } == nil)
            table.endIdle(.seconds(600), olderThan: .zero)
            #expect(Self.code { try table.read(again, of: [1], store) { _ in } } == 239)
        }
    }

    @Test("a state that is being read is not idle, and nobody waits for who reads one that ends")
    func idleInUse() throws {
        try Self.withStore { store in
            let (table, clock) = (SnapshotTable(), ClusterClock())
            let new = try Self.request(clock)
            let code = Self.code {
                try WorkBudget().running {
                    try table.read(new, of: [1], store) { _ in
                        table.endIdle(.zero)
                        try WorkBudget.check()
                    }
                }
            }
            #expect(code == nil)
            let full = Self.code {
                try WorkBudget().running {
                    try table.read(try Self.request(clock), of: [1], store) { _ in
                        for _ in 0..<SnapshotTable.ofOneMax {
                            try table.read(try Self.request(clock), of: [1], store) { _ in }
                        }
                        try WorkBudget.check()
                    }
                }
            }
            #expect(full == 239)
            table.endAll()
        }
    }

    @Test("who reads a state that is too old is told so, and nobody waits for the reader")
    func inUse() throws {
        try Self.withStore { store in
            let (table, clock) = (SnapshotTable(), ClusterClock())
            let new = try Self.request(clock)
            let code = Self.code {
                try WorkBudget().running {
                    try table.read(new, of: [1], store) { _ in
                        table.endIdle(.seconds(600), olderThan: .zero)
                        try WorkBudget.check()
                    }
                }
            }
            #expect(code == 239)
        }
    }
}
