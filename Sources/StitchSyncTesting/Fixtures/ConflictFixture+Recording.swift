package import BSONStore
package import StitchSync

extension ConflictFixture {
    /// Makes a fixture that repeats a conflict of a live store.
    ///
    /// The function plays the conflict in memory with its recorded answer and expects the outcome
    /// of that run, so that the fixture passes unchanged.
    ///
    /// - Parameter isForApp: whether the fixture calls the app's handler, which must then return
    ///   the same answer; otherwise the fixture contains the answer.
    /// - Throws: `FixtureError` when the run does not reproduce the conflict.
    package static func recording(
        _ conflict: JournaledConflict, name: String, forApp isForApp: Bool
    ) async throws -> BSONDocument {
        var parts: BSONDocument = [
            "name": .string(name), "handler": conflict.answer.handler, "start": conflict.start,
        ]
        if let steps = conflict.steps { parts.append("steps", .array(BSONArray(steps))) }
        let unknown: BSONDocument = ["calls": .array([]), "local": .null, "remote": .null]
        let draft = try ConflictFixture(
            .document(setting("expect", to: .document(unknown), in: parts)), at: "the recorded case"
        )
        guard let outcome = try await draft.played().outcome else {
            throw FixtureError("", "the conflict cannot be played: \(name)")
        }
        let call = FixtureExpectation.Call(
            base: conflict.base, local: conflict.local, remote: conflict.remote,
            mayHaveLanded: conflict.mayHaveLanded)
        if conflict.answer != .waits {
            guard let first = outcome.calls.first, first.isSame(as: call) else {
                throw FixtureError(
                    "", "played again, the handler is not asked what it was asked then")
            }
        }
        let recorded = setting("expect", to: .document(outcome.document), in: parts)
        let check = try ConflictFixture(.document(recorded), at: "the recorded case")
        let differences = try await check.played().differences
        guard differences.isEmpty else {
            let text = differences.map(\.description).joined(separator: "\n")
            throw FixtureError("", "played twice, it does not end alike: \(text)")
        }
        return isForApp ? setting("handler", to: "app", in: recorded) : recorded
    }

    private static func setting(
        _ key: String, to value: BSONValue, in document: BSONDocument
    ) -> BSONDocument {
        var document = document
        document.set(key, to: value)
        return document
    }

    /// Returns the content of a fixture file with the given cases.
    package static func file(description: String, cases: [BSONDocument]) -> BSONDocument {
        [
            "description": .string(description),
            "cases": .array(BSONArray(cases.map(BSONValue.document))),
        ]
    }
}

extension JournaledConflict {
    /// The start from which one pass leads to the conflict.
    fileprivate var start: BSONValue {
        func value(_ edition: BSONDocument?) -> BSONValue {
            edition.map(BSONValue.document) ?? .null
        }
        var start: BSONDocument = ["base": value(base), "local": value(local)]
        // With a lost response, the remote change happens later, as a step.
        if !mayHaveLanded { start.append("remote", value(remote)) }
        if base != nil {
            switch baseVersion.map(DocumentVersion.init) {
            case nil: start.append("baseVersion", .null)
            case .some(nil): start.append("baseVersion", baseVersion ?? .null)
            case .some(.some): break
            }
            if !mayHaveLanded, let change = versionChange {
                start.append("remoteVersion", change)
            }
        }
        return .document(start)
    }

    /// The effect of the remote's change on the version; `nil` for the default of fixtures.
    private var versionChange: BSONValue? {
        guard remote != nil else { return nil }
        guard let remoteVersion else { return "none" }
        guard let now = DocumentVersion(remoteVersion) else { return remoteVersion }
        guard let before = baseVersion.flatMap(DocumentVersion.init) else { return "fresh" }
        if now.lineage != before.lineage { return "fresh" }
        return now.counter == before.counter ? "same" : nil
    }

    /// The steps; `nil` where one pass is enough.
    fileprivate var steps: [BSONValue]? {
        guard mayHaveLanded else { return nil }
        var steps: [BSONValue] = [["lose": ["request": "write"]], ["sync": 1]]
        let isSame =
            base.map { base in remote.map { base.contentEquals($0) } ?? false } ?? (remote == nil)
        if !isSame {
            let edit: BSONValue = remote.map { ["replace": .document($0)] } ?? "delete"
            steps.append(["remote": edit])
        }
        return steps + ["loseHistory", ["sync": "quiet"]]
    }
}

extension JournaledConflict.Answer {
    /// The handler that returns this answer.
    fileprivate var handler: BSONValue {
        switch self {
        case .useLocal: ["answers": ["useLocal"]]
        case .useRemote: ["answers": ["useRemote"]]
        case .use(let document): ["answers": [["use": .document(document)]]]
        case .delete: ["answers": ["delete"]]
        case .failed: ["answers": ["fail"]]
        case .waits: .null
        }
    }
}

extension FixtureExpectation.Call {
    fileprivate func isSame(as other: Self) -> Bool {
        func isSame(_ left: BSONDocument?, _ right: BSONDocument?) -> Bool {
            switch (left, right) {
            case (nil, nil): true
            case (let left?, let right?): left.contentEquals(right)
            case (nil, _), (_, nil): false
            }
        }
        return isSame(base, other.base) && isSame(local, other.local)
            && isSame(remote, other.remote) && mayHaveLanded == other.mayHaveLanded
    }
}
