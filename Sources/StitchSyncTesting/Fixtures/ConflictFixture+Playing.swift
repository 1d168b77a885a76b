public import BSONStore
public import StitchSync

extension ConflictFixture {
    /// Plays the fixture in memory and compares the outcome with the expected one.
    ///
    /// - Parameter handler: the app's handler, for fixtures that name `app`; others contain their
    ///   own.
    /// - Returns: the differences; empty when the fixture passes.
    /// - Throws: `FixtureError` when the fixture names `app` and the call has no handler; the
    ///   errors of the store and of passes.
    public func differences(
        handler: ConflictHandler<BSONDocument>? = nil
    ) async throws -> [FixtureDifference] {
        try await differences(app: handler.map(Self.configure))
    }

    /// Plays the fixture with a handler of a `Codable` type.
    ///
    /// - Throws: as ``differences(handler:)`` does.
    public func differences<Document: Codable & Sendable>(
        as type: Document.Type, handler: ConflictHandler<Document>
    ) async throws -> [FixtureDifference] {
        try await differences { engine in
            await engine.collection(FixtureRun.namespace, of: type)
                .configure(conflictHandler: handler)
        }
    }

    /// Plays the fixture and throws the differences.
    ///
    /// - Throws: `FixtureFailure`, whose description shows the differences; as
    ///   ``differences(handler:)`` does.
    public func check(handler: ConflictHandler<BSONDocument>? = nil) async throws {
        try fail(try await differences(handler: handler))
    }

    /// Plays the fixture with a handler of a `Codable` type and throws the differences.
    ///
    /// - Throws: as ``check(handler:)`` does.
    public func check<Document: Codable & Sendable>(
        as type: Document.Type, handler: ConflictHandler<Document>
    ) async throws {
        try fail(try await differences(as: type, handler: handler))
    }

    private func fail(_ differences: [FixtureDifference]) throws {
        guard differences.isEmpty else {
            throw FixtureFailure(failures: [(self, differences)], played: 1)
        }
    }

    private static func configure(
        _ handler: ConflictHandler<BSONDocument>
    ) -> TestDevice.Configure {
        { engine in
            await engine.collection(FixtureRun.namespace).configure(conflictHandler: handler)
        }
    }

    private func differences(app: TestDevice.Configure?) async throws -> [FixtureDifference] {
        try await played(app: app).differences
    }

    /// Plays the fixture with the handler that it names.
    package func played() async throws -> FixtureResult { try await played(app: nil) }

    private func played(app: TestDevice.Configure?) async throws -> FixtureResult {
        let configure: TestDevice.Configure
        switch handler {
        case .app:
            guard let app else {
                throw FixtureError(file: file, name, "it needs the app's own handler")
            }
            configure = app
        case .missing: configure = { _ in }
        default: configure = Self.configure(try handler.conflictHandler())
        }
        return try await played(configure)
    }

    private func played(_ configure: @escaping TestDevice.Configure) async throws -> FixtureResult {
        do {
            let watched = try await FixtureRun(self).play(isWatched: true, configure: configure)
            let differences = watched.differences(from: expectation, watchesCalls: true)
            let result = FixtureResult(fixture: self, outcome: watched, differences: differences)
            guard differences.isEmpty, handler.isAnsweredAlike, !hasStepsWhileAsked else {
                return result
            }
            // In an app, the transaction that finds such a conflict also resolves it.
            let unwatched = try await FixtureRun(self).play(
                isWatched: false, configure: configure)
            return FixtureResult(
                fixture: self, outcome: unwatched,
                differences: unwatched.differences(from: expectation, watchesCalls: false)
                    .map(\.unwatched))
        } catch let error as CancellationError {
            throw error
        } catch {
            // A failed step fails this fixture only, not the others.
            let difference = FixtureDifference(
                what: "playing it", expected: "no error", actual: "\(error)", fields: [])
            return FixtureResult(fixture: self, outcome: nil, differences: [difference])
        }
    }

    private var hasStepsWhileAsked: Bool {
        steps.contains { if case .whileAsked = $0 { true } else { false } }
    }
}

extension FixtureDifference {
    fileprivate var unwatched: FixtureDifference {
        FixtureDifference(
            what: "\(what), without recording the calls", expected: expected, actual: actual,
            fields: fields)
    }
}

extension FixtureHandler {
    /// Whether the handler returns the same answer for every conflict.
    fileprivate var isAnsweredAlike: Bool {
        switch self {
        case .remoteWins, .localWins: true
        default: false
        }
    }

    /// Makes the handler for one run.
    fileprivate func conflictHandler() throws(FixtureError) -> ConflictHandler<BSONDocument> {
        switch self {
        case .remoteWins: return .remoteWins
        case .localWins: return .localWins
        case .newest(let path): return .newest(by: path)
        case .mergeFields(let counters, let arrays, let arraysByID, let overlaps):
            return .mergeFields(
                ThreeWayMerge(
                    counterPaths: counters, arrayPaths: arrays, arrayByIDPaths: arraysByID),
                overlaps: try overlaps.conflictHandler())
        case .answers(let answers):
            let next = Locked(0)
            return ConflictHandler { _ in
                let index = next.withLock { next in
                    defer { next += 1 }
                    return min(next, answers.count - 1)
                }
                return try answers[index].resolution()
            }
        case .app, .missing:
            throw FixtureError("handler", "overlaps are answered by a handler that is built in")
        }
    }
}

extension FixtureHandler.Answer {
    fileprivate func resolution() throws -> ConflictResolution<BSONDocument> {
        switch self {
        case .useLocal: .useLocal
        case .useRemote: .useRemote
        case .use(let document): .use(document)
        case .delete: .delete
        case .fail: throw FixtureError("", "the handler fails, as the fixture says")
        }
    }
}
