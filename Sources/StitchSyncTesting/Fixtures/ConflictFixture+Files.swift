public import BSONStore
public import StitchSync

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ConflictFixture {
    /// Reads the fixtures of a file, or of all `.json` files in a folder and its subfolders.
    ///
    /// - Returns: the fixtures in the order of the files' paths, without those in `*.schema.json`
    ///   files, which hold JSON Schemas.
    /// - Throws: `FixtureError`, which names the file and the place in it.
    public static func load(_ path: String) throws(FixtureError) -> [ConflictFixture] {
        var fixtures: [ConflictFixture] = []
        for (path, name) in try files(path) {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw FixtureError(file: path, "", "it cannot be read")
            }
            do {
                for var fixture in try cases(json: [UInt8](data)) {
                    fixture.file = name
                    fixtures.append(fixture)
                }
            } catch {
                throw error.inFile(path)
            }
        }
        return fixtures
    }

    private static func files(
        _ path: String
    ) throws(FixtureError) -> [(path: String, name: String)] {
        let manager = FileManager.default
        var isFolder = false
        guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw FixtureError(file: path, "", "there is no such file")
        }
        guard isFolder else { return [(path, String(path.split(separator: "/").last ?? ""))] }
        let names: [String]
        do {
            names = try manager.subpathsOfDirectory(atPath: path)
        } catch {
            throw FixtureError(file: path, "", "it cannot be read: \(error)")
        }
        let files = names.filter { $0.hasByteSuffix(".json") && !$0.hasByteSuffix(".schema.json") }
        guard !files.isEmpty else {
            throw FixtureError(file: path, "", "there are no .json files in it")
        }
        return files.sorted().map { (path: "\(path)/\($0)", name: $0) }
    }
}

/// Plays all fixtures of a file or folder: one line in a test with Swift Testing or XCTest.
///
/// ```swift
/// @Test func `my handler resolves conflicts`() async throws {
///     try await checkConflicts(in: "fixtures/conflicts", handler: MyHandler.handler)
/// }
/// ```
///
/// - Parameter handler: the app's handler, for fixtures that name `app`.
/// - Throws: `FixtureFailure` with all differences; `FixtureError` for an invalid fixture, and for
///   one that names `app` when the call has no handler.
public func checkConflicts(
    in path: String, handler: ConflictHandler<BSONDocument>? = nil
) async throws {
    try await checkConflicts(in: path) { try await $0.differences(handler: handler) }
}

/// Plays all fixtures of a file or folder with a handler of a `Codable` type.
///
/// - Throws: as ``checkConflicts(in:handler:)`` does.
public func checkConflicts<Document: Codable & Sendable>(
    in path: String, as type: Document.Type, handler: ConflictHandler<Document>
) async throws {
    try await checkConflicts(in: path) { try await $0.differences(as: type, handler: handler) }
}

/// Plays all fixtures of a file or folder, and returns for each one what the handler would change.
///
/// Use it on conflicts that `stitchsync fixture record --from URI --app` recorded: the expected results
/// are those of the handler that the devices ran then.
///
/// ```swift
/// for comparison in try await compareConflicts(in: "fixtures/fleet.json", handler: handler) {
///     print(comparison)  // shop.products 7: differs: title, votes
/// }
/// ```
///
/// - Throws: `FixtureError` for an invalid fixture, and for one that names `app` when the call has no
///   handler.
public func compareConflicts(
    in path: String, handler: ConflictHandler<BSONDocument>? = nil
) async throws -> [ConflictComparison] {
    try await comparisons(in: path) { try await $0.differences(handler: handler) }
}

/// Compares all fixtures of a file or folder with a handler of a `Codable` type.
///
/// - Throws: as ``compareConflicts(in:handler:)`` does.
public func compareConflicts<Document: Codable & Sendable>(
    in path: String, as type: Document.Type, handler: ConflictHandler<Document>
) async throws -> [ConflictComparison] {
    try await comparisons(in: path) { try await $0.differences(as: type, handler: handler) }
}

private func comparisons(
    in path: String, _ play: (ConflictFixture) async throws -> [FixtureDifference]
) async throws -> [ConflictComparison] {
    var comparisons: [ConflictComparison] = []
    for fixture in try ConflictFixture.load(path) {
        comparisons.append(
            ConflictComparison(fixture: fixture, differences: try await play(fixture)))
    }
    return comparisons
}

private func checkConflicts(
    in path: String, _ play: (ConflictFixture) async throws -> [FixtureDifference]
) async throws {
    let fixtures = try ConflictFixture.load(path)
    var failures: [(fixture: ConflictFixture, differences: [FixtureDifference])] = []
    for fixture in fixtures {
        let differences = try await play(fixture)
        if !differences.isEmpty { failures.append((fixture, differences)) }
    }
    guard failures.isEmpty else {
        throw FixtureFailure(failures: failures, played: fixtures.count)
    }
}
