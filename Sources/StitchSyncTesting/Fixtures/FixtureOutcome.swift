package import BSONStore
internal import StitchSync

/// The outcome of a fixture's run.
struct FixtureOutcome: Sendable {
    let calls: [FixtureExpectation.Call]
    let local: BSONDocument?
    let remote: BSONDocument?
    let version: VersionField
    let baseVersion: DocumentVersion?
    let events: [String]
    let errors: [String]
    let status: DocumentSyncStatus
    /// The findings of the structural check.
    let findings: [String]
    /// The queued faults that never happened.
    let waiting: [String]

    /// The version in the form that a fixture expects.
    var knownVersion: FixtureExpectation.Version {
        switch version {
        case .absent: .none
        case .foreign(let value): .value(value)
        case .version(let version):
            .counted(version.counter, isSameLineage: version.lineage == baseVersion?.lineage)
        }
    }
}

extension FixtureOutcome {
    /// Returns the differences from the expected outcome.
    ///
    /// - Parameter watchesCalls: whether the run recorded the handler's calls.
    func differences(
        from expected: FixtureExpectation, watchesCalls: Bool
    ) -> [FixtureDifference] {
        var differences: [FixtureDifference] = []
        func compare(_ what: String, _ expected: String, _ actual: String) {
            guard expected != actual else { return }
            differences.append(
                FixtureDifference(
                    what: what, expected: expected.isEmpty ? "none" : expected,
                    actual: actual.isEmpty ? "none" : actual, fields: []))
        }
        func compare(_ what: String, _ expected: BSONDocument?, _ actual: BSONDocument?) {
            differences += FixtureDifference.between(what, expected, actual)
        }
        if watchesCalls, let expected = expected.calls {
            compare("number of handler calls", "\(expected.count)", "\(calls.count)")
            for (index, pair) in zip(expected, calls).enumerated() {
                let call = "handler call \(index + 1)"
                compare("\(call), base", pair.0.base, pair.1.base)
                compare("\(call), local", pair.0.local, pair.1.local)
                compare("\(call), remote", pair.0.remote, pair.1.remote)
                compare(
                    "\(call), mayHaveLanded", "\(pair.0.mayHaveLanded)", "\(pair.1.mayHaveLanded)")
            }
        }
        compare("local document", expected.local, local)
        compare("remote document", expected.remote, remote)
        if let version = expected.version {
            compare("remote version", version.text, knownVersion.text)
        }
        if let events = expected.events {
            compare("events", events.joined(separator: ", "), self.events.joined(separator: ", "))
        }
        compare("errors", expected.errors.joined(separator: ", "), errors.joined(separator: ", "))
        compare("state", expected.state, stateText(beside: expected.state))
        compare("structural check", "", findings.joined(separator: "; "))
        if watchesCalls {
            // A pass that resolves a conflict at once has fewer commits to be killed at.
            compare("faults that never happened", "", waiting.joined(separator: ", "))
        }
        return differences
    }

    /// Returns the state, with the reason of an unexpected pause.
    private func stateText(beside expected: String) -> String {
        guard expected != status.name, case .paused(let reason) = status else { return status.name }
        return "paused (\(reason.code.rawValue): \(reason.message))"
    }
}

extension FixtureExpectation.Version {
    var text: String {
        switch self {
        case .none: "none"
        case .counted(let counter, let isSame):
            "counter \(counter) of \(isSame ? "the same" : "a new") lineage"
        case .value(let value): value.extendedJSON(.relaxed)
        }
    }
}

/// The result of a fixture: its outcome and the differences from the expected one.
package struct FixtureResult: Sendable {
    let fixture: ConflictFixture
    /// The outcome; `nil` when a step failed.
    let outcome: FixtureOutcome?
    package let differences: [FixtureDifference]

    /// The result as an object: the fixture, whether it passed, and the outcome in the form of a
    /// fixture's `expect`.
    package var document: BSONDocument {
        [
            "file": .string(fixture.file), "name": .string(fixture.name),
            "passed": .bool(differences.isEmpty),
            "differences": .array(
                BSONArray(differences.map { BSONValue.string($0.description) })),
            "actual": outcome.map { BSONValue.document($0.document) } ?? .null,
        ]
    }
}

extension FixtureOutcome {
    /// The outcome in the form of a fixture's `expect`.
    var document: BSONDocument {
        var document: BSONDocument = [
            "calls": .array(BSONArray(calls.map { BSONValue.document($0.document) })),
            "local": local.map(BSONValue.document) ?? .null,
            "remote": remote.map(BSONValue.document) ?? .null,
            "version": knownVersion.value,
            "events": .array(BSONArray(events.map(BSONValue.string))),
        ]
        if !errors.isEmpty {
            document.append("errors", .array(BSONArray(errors.map(BSONValue.string))))
        }
        if status.name != (local == nil ? "notSynced" : "synced") {
            document.append("state", .string(status.name))
        }
        return document
    }
}

extension FixtureExpectation.Call {
    fileprivate var document: BSONDocument {
        var document = BSONDocument()
        for (key, edition) in [("base", base), ("local", local), ("remote", remote)] {
            if let edition { document.append(key, .document(edition)) }
        }
        if mayHaveLanded { document.append("mayHaveLanded", .bool(true)) }
        return document
    }
}

extension FixtureExpectation.Version {
    fileprivate var value: BSONValue {
        switch self {
        case .none: .null
        case .counted(let counter, let isSame):
            .document(["lineage": .string(isSame ? "same" : "new"), "counter": .int64(counter)])
        case .value(let value): value
        }
    }
}
