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
        switch self {
        case .app(let resolve): return try await resolve(conflict)
        case .immediate(let resolve): return try resolve(conflict)
        case .side(let side): return side.resolution
        case .newest(let path): return conflict.newest(by: path)
        case .merging(let merge, let overlaps):
            if let answer = merge.answer(conflict) { return answer }
            return merge.refine(try await overlaps.resolve(conflict), of: conflict)
        case .deciding(let merge, let deleted, let decide):
            guard var document = merge.merge(conflict)?.document else {
                return try await deleted.resolve(conflict)
            }
            try await decide(&document, conflict)
            return .use(document)
        }
    }

    /// Whether every conflict is resolved at once, so that no time limit is needed.
    var isImmediate: Bool {
        switch self {
        case .app, .deciding: false
        case .immediate, .side, .newest: true
        case .merging(_, let overlaps): overlaps.isImmediate
        }
    }
}

extension ConflictHandler<BSONDocument> {
    /// The side that wins every conflict, if it is always the same.
    var fixedSide: ConflictSide? {
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
