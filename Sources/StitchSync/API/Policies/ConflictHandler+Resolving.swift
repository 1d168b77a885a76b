internal import BSONStore

/// The resolver: all rules are resolved over stored documents, which have all fields.
///
/// A handler of the app's type becomes one of stored documents by `DocumentCoding/untyped(_:)`.
extension ConflictHandler<BSONDocument>.Rule {
    /// Returns the resolution of a conflict.
    ///
    /// - Throws: what the app's closure throws.
    func resolve(
        _ conflict: Conflict<BSONDocument>
    ) async throws -> ConflictResolution<BSONDocument> {
        if let answer = try resolveAtOnce(conflict) { return answer }
        return switch self {
        case .app(let resolve): try await resolve(conflict)
        case .immediate(let resolve): try resolve(conflict)
        case .side(let side): side.resolution
        case .newest(let path): conflict.newest(by: path)
        case .merging(let merge, let overlaps):
            merge.refine(try await overlaps.resolve(conflict), of: conflict)
        case .deciding(let merge, let deleted, let decide):
            if var document = merge.merge(conflict)?.document {
                .use(try await decided(&document, conflict, by: decide))
            } else {
                try await deleted.resolve(conflict)
            }
        }
    }

    /// Returns the resolution where no closure of the app that may wait is asked; otherwise `nil`.
    ///
    /// - Throws: what a closure of the app throws that returns at once.
    func resolveAtOnce(
        _ conflict: Conflict<BSONDocument>
    ) throws -> ConflictResolution<BSONDocument>? {
        switch self {
        case .app: nil
        case .immediate(let resolve): try resolve(conflict)
        case .side(let side): side.resolution
        case .newest(let path): conflict.newest(by: path)
        case .merging(let merge, let overlaps):
            try merge.answer(conflict)
                ?? overlaps.resolveAtOnce(conflict).map { merge.refine($0, of: conflict) }
        case .deciding(let merge, let deleted, _):
            merge.merge(conflict) == nil ? try deleted.resolveAtOnce(conflict) : nil
        }
    }

    private func decided(
        _ document: inout BSONDocument, _ conflict: Conflict<BSONDocument>,
        by decide: ConflictHandler<BSONDocument>.Decide
    ) async throws -> BSONDocument {
        try await decide(&document, conflict)
        return document
    }
}

extension ConflictHandler<BSONDocument> {
    /// The side that wins every conflict, if it is always the same.
    var always: ConflictSide? {
        if case .side(let side) = rule { side } else { nil }
    }
}

extension ConflictHandler {
    /// The merge that adds up both sides' counters; with it, equal documents are a conflict.
    var counting: ThreeWayMerge? { rule.counting }
}

extension ConflictHandler.Rule {
    fileprivate var counting: ThreeWayMerge? {
        switch self {
        case .app, .immediate, .side, .newest: nil
        case .merging(let merge, let overlaps):
            merge.counters.isEmpty ? overlaps.counting : merge
        case .deciding(let merge, _, _): merge.counters.isEmpty ? nil : merge
        }
    }
}

extension ConflictSide {
    fileprivate var resolution: ConflictResolution<BSONDocument> {
        switch self {
        case .remote: .useRemote
        case .local: .useLocal
        }
    }
}

extension Conflict<BSONDocument> {
    fileprivate func newest(by path: String) -> ConflictResolution<BSONDocument> {
        switch (local, remote) {
        case (let local?, let remote?):
            switch (local[path: path], remote[path: path]) {
            case (let mine?, let theirs?):
                BSONOrder.compare(mine, theirs) == .greater ? .useLocal : .useRemote
            case (.some, nil): .useLocal
            case (nil, _): .useRemote
            }
        case (.some, nil): .useLocal
        case (nil, _): .useRemote
        }
    }
}

extension ThreeWayMerge {
    /// Returns the merged document; `nil` where the sides overlap.
    fileprivate func answer(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        guard let result = merge(conflict), result.overlaps.isEmpty else { return nil }
        return .use(result.document)
    }

    /// Applies a side's win to the overlapping fields only; all other changes of both sides are
    /// kept.
    fileprivate func refine(
        _ answer: ConflictResolution<BSONDocument>, of conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        switch answer {
        case .useLocal:
            guard let result = merge(conflict, winner: .local), let local = conflict.local,
                !result.document.contentEquals(local)
            else { return answer }
            return .use(result.document)
        case .useRemote:
            guard let result = merge(conflict), let remote = conflict.remote,
                !result.document.contentEquals(remote)
            else { return answer }
            return .use(result.document)
        case .use, .delete: return answer
        }
    }
}
