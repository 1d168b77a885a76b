import StitchSyncTesting
import Testing

@testable import Notes

@Test func `both sides' edits of a note are kept`() async throws {
    try await checkConflicts(
        in: conflicts, as: Note.self, handler: Note.conflictHandler)
}

private let conflicts = #filePath.replacing("ConflictTests.swift", with: "Conflicts")
