import BSONStore
import Testing

@testable import StitchServer

/// The server's own tables in a file that was damaged, or that another program wrote.
@Suite("entries of the server's own tables")
struct ServerEntriesTests {
    @Test(
        "a row that cannot be read is skipped, and removed at the next start",
        arguments: ServerEntries.Table.allCases)
    func unreadable(table: ServerEntries.Table) throws {
        let store = try DocumentStore(at: .inMemory)
        let read = try opened(table, store)
        try store.write { transaction in
            for value in [
                "x'0C0000001061000100000000'", "x'010203'", "zeroblob(18000000)", "'text'", "7",
            ] {
                let columns =
                    switch table {
                    case .conflicts: "(id, entry) VALUES (x'00' || random(), \(value))"
                    case .denials: "(entry) VALUES (\(value))"
                    case .devices: "(id, entry) VALUES (random(), \(value))"
                    }
                try transaction.connection.execute("INSERT INTO \(table.rawValue) \(columns)")
            }
        }
        #expect(try read() == [["a": 1]])
        #expect(try count(table, store) == 5)
        #expect(try opened(table, store)() == [["a": 1]])
        #expect(try count(table, store) == 1)
    }

    /// Does what a start of the server does, and returns how the server reads the table.
    private func opened(
        _ table: ServerEntries.Table, _ store: DocumentStore
    ) throws -> () throws -> [BSONDocument] {
        switch table {
        case .conflicts:
            try StoredConflicts(store: store).entries.prepare()
            return StoredConflicts(store: store).entries.all
        case .denials: return try StoredDenials(store).entries.all
        case .devices: return try StoredDevices(store).entries.all
        }
    }

    private func count(_ table: ServerEntries.Table, _ store: DocumentStore) throws -> Int64? {
        try store.read { try $0.connection.int64("SELECT count(*) FROM \(table.rawValue)") }
    }
}
