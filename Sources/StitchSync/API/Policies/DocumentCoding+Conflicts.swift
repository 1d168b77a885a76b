internal import BSONStore

extension DocumentCoding {
    /// Returns a handler of raw documents that calls one of the app's type.
    func untyped(_ handler: ConflictHandler<Document>) -> ConflictHandler<BSONDocument> {
        guard let merging = handler.merging else { return withoutMerging(handler) }
        let open = withoutMerging(handler.withoutMerging)
        return ConflictHandler { conflict in
            guard let merged = merging.merge.merge(conflict)?.document else {
                return try await open.resolve(conflict)
            }
            guard var document = try typed(merged, "merged") else { return .useRemote }
            let edition = try edition(document, merged)
            try await merging.decide(&document, typed(conflict))
            return .use(try change(document, [edition]))
        }.counting(by: handler.counting)
    }

    private func withoutMerging(
        _ handler: ConflictHandler<Document>
    ) -> ConflictHandler<BSONDocument> {
        let untyped: ConflictHandler<BSONDocument>
        if let rule = handler.ruleAtOnce {
            untyped = ConflictHandler(immediate: { conflict in
                try self.untyped(rule(typed(conflict)), of: conflict)
            })
        } else {
            untyped = ConflictHandler { conflict in
                try self.untyped(await handler.rule(typed(conflict)), of: conflict)
            }
        }
        let answer: ConflictHandler<BSONDocument>.FixedResolution? =
            switch handler.sameAnswer {
            case .remote: .remote
            case .local: .local
            case nil: nil
            }
        let asking = handler.raw.map(untyped.after) ?? untyped
        return (handler.refine.map(asking.refined) ?? asking).answering(answer)
            .counting(by: handler.counting)
    }

    /// Returns a conflict with the app's type.
    func typed(_ conflict: Conflict<BSONDocument>) throws -> Conflict<Document> {
        Conflict(
            namespace: conflict.namespace, documentID: conflict.documentID,
            base: try typed(conflict.base, "base"), local: try typed(conflict.local, "local"),
            remote: try typed(conflict.remote, "remote"), mayHaveLanded: conflict.mayHaveLanded)
    }

    private func typed(
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

/// An edition of a conflict that does not decode as the app's type.
///
/// The document waits until the app, or an edition of another device, makes it decodable.
struct EditionDecodingFailure: Error, CustomStringConvertible {
    /// The edition: `base`, `local`, `remote` or `merged`.
    let edition: String
    let failure: DocumentDecodingFailure

    var description: String { "the \(edition) edition: \(failure)" }
}
