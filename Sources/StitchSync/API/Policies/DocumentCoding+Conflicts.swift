internal import BSONStore

extension DocumentCoding {
    /// Returns a handler of stored documents that calls one of the app's type.
    func untyped(_ handler: ConflictHandler<Document>) -> ConflictHandler<BSONDocument> {
        ConflictHandler(untyped(handler.rule))
    }

    private func untyped(
        _ rule: ConflictHandler<Document>.Rule
    ) -> ConflictHandler<BSONDocument>.Rule {
        switch rule {
        case .app(let resolve):
            .app { [self] in try untyped(await resolve(typed($0)), of: $0) }
        case .immediate(let resolve):
            .immediate { [self] in try untyped(resolve(typed($0)), of: $0) }
        case .side(let side): .side(side)
        case .newest(let path): .newest(path: path)
        case .merging(let merge, let overlaps):
            .merging(merge.checked(by: isDecodable), overlaps: untyped(overlaps))
        case .deciding(let merge, let deleted, let decide):
            .deciding(merge.checked(by: isDecodable), deleted: untyped(deleted)) {
                [self] merged, conflict in
                guard var document = try typed(merged, "merged") else { return }
                let edition = try edition(document, merged)
                try await decide(&document, typed(conflict))
                merged = try change(document, [edition])
            }
        }
    }

    @Sendable private func isDecodable(_ document: BSONDocument) -> Bool {
        do {
            _ = try decode(document)
            return true
        } catch {
            // The document is only an attempt of the merge, which then keeps more parts whole.
            return false
        }
    }

    /// Returns a conflict with the app's type.
    func typed(_ conflict: Conflict<BSONDocument>) throws -> Conflict<Document> {
        Conflict(
            namespace: conflict.namespace, documentID: conflict.documentID,
            base: try typed(conflict.base, "base"), local: try typed(conflict.local, "local"),
            remote: try typed(conflict.remote, "remote"), mayHaveLanded: conflict.mayHaveLanded)
    }

    /// Returns an edition with the app's type; an error names it.
    func typed(
        _ edition: BSONDocument?, _ name: String
    ) throws(EditionDecodingFailure) -> Document? {
        guard let edition else { return nil }
        do {
            return try decode(edition)
        } catch {
            throw EditionDecodingFailure(
                edition: name,
                failure: DocumentDecodingFailure(error, decoding: edition, as: Document.self))
        }
    }

    /// Returns a conflict of raw documents, which have the fields of the app's type only.
    func untyped(_ conflict: Conflict<Document>) throws -> Conflict<BSONDocument> {
        func encoded(_ edition: Document?) throws -> BSONDocument? {
            try edition.map { try encode($0) }
        }
        return Conflict(
            namespace: conflict.namespace, documentID: conflict.documentID,
            base: try encoded(conflict.base), local: try encoded(conflict.local),
            remote: try encoded(conflict.remote), mayHaveLanded: conflict.mayHaveLanded)
    }

    /// Returns a resolution with the app's type.
    func typed(
        _ answer: ConflictResolution<BSONDocument>
    ) throws -> ConflictResolution<Document> {
        switch answer {
        case .useLocal: .useLocal
        case .useRemote: .useRemote
        case .use(let document): .use(try decode(document))
        case .delete: .delete
        }
    }

    private func untyped(
        _ answer: ConflictResolution<Document>, of conflict: Conflict<BSONDocument>
    ) throws -> ConflictResolution<BSONDocument> {
        switch answer {
        case .useLocal: .useLocal
        case .useRemote: .useRemote
        case .delete: .delete
        case .use(let document):
            .use(
                try write(document, onto: [conflict.remote, conflict.local, conflict.base]))
        }
    }
}

/// An edition of a conflict or of a refused write that does not decode as the app's type.
///
/// The document waits until the app, or an edition of another device, makes it decodable.
struct EditionDecodingFailure: Error, CustomStringConvertible {
    /// The edition: `base`, `local`, `remote`, `merged` or `refused`.
    let edition: String
    let failure: DocumentDecodingFailure

    var description: String { "the \(edition) edition: \(failure)" }
}
