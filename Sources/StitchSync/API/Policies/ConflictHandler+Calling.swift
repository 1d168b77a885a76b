public import BSONStore

extension ConflictHandler where Document: Codable {
    /// Resolves a conflict as the engine would, so that a test needs no engine.
    ///
    /// ```swift
    /// let answer = try await handler.resolve(
    ///     Conflict(documentID: 1, base: base, local: mine, remote: theirs))
    /// #expect(answer == .use(merged))
    /// ```
    ///
    /// The engine also keeps fields that the type does not know, checks the `_id` of the answer and
    /// limits the time; a fixture (`StitchSyncTesting`) tests those.
    ///
    /// - Throws: what the handler's closure throws; for `.mergeFields` and `.newest(by:)` with a
    ///   path, `EncodingError` or `DecodingError` where a document cannot be stored or read.
    public func resolve(
        _ conflict: Conflict<Document>
    ) async throws -> ConflictResolution<Document> {
        if case .app(let resolve) = rule { return try await resolve(conflict) }
        if case .immediate(let resolve) = rule { return try resolve(conflict) }
        let coding = DocumentCoding<Document>()
        return try coding.typed(
            await coding.untyped(self).resolve(try coding.untyped(conflict)))
    }
}

extension ConflictHandler where Document == BSONDocument {
    /// Resolves a conflict as the engine does, so that a test needs no engine.
    ///
    /// - Throws: what the handler's closure throws.
    public func resolve(
        _ conflict: Conflict<BSONDocument>
    ) async throws -> ConflictResolution<BSONDocument> {
        try await rule.resolve(conflict)
    }
}
