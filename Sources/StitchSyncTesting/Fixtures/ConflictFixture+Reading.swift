internal import BSONStore
internal import StitchSync

extension ConflictFixture {
    /// Reads fixtures from a file's text: an object with a list of cases.
    ///
    /// - Throws: `FixtureError` for invalid JSON, unknown keys, and values of a wrong type.
    static func cases(json bytes: [UInt8]) throws(FixtureError) -> [ConflictFixture] {
        let document: BSONDocument
        do {
            // Some editors write a meaningless byte order mark in front of UTF-8.
            let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
            document = try BSONDocument(
                extendedJSONBytes: hasMark ? Array(bytes.dropFirst(3)) : bytes)
        } catch {
            throw FixtureError("", "it is not Extended JSON: \(error)")
        }
        let file = try FixtureObject(
            .document(document), at: "", keys: ["$schema", "description", "cases"])
        let list = try file.list("cases")
        guard !list.isEmpty else { throw FixtureError("cases", "there are none") }
        var cases: [ConflictFixture] = []
        var names: Set<Name> = []
        for (value, path) in list {
            let fixture = try ConflictFixture(value, at: path)
            guard names.insert(fixture.name).inserted else {
                throw FixtureError("\(path).name", "there are two cases of this name")
            }
            cases.append(fixture)
        }
        return cases
    }

    init(_ value: BSONValue, at path: String) throws(FixtureError) {
        let object = try FixtureObject(
            value, at: path, keys: ["name", "handler", "start", "steps", "expect"])
        file = ""
        name = try object.string("name")
        guard !name.isEmpty else { throw FixtureError(object.place("name"), "it is empty") }
        handler = try FixtureHandler(object.required("handler"), at: object.place("handler"))
        start = try FixtureStart(object.required("start"), at: object.place("start"))
        steps = [.sync(passes: nil)]
        if let value = object["steps"] {
            steps = try FixtureStep.list(value, at: object.place("steps"))
        }
        for (index, step) in steps.enumerated() {
            try step.expectDocument(
                start.documentID, at: "\(object.place("steps"))[\(index)]")
        }
        expectation = try FixtureExpectation(object.required("expect"), at: object.place("expect"))
    }
}

extension FixtureStart {
    init(_ value: BSONValue, at path: String) throws(FixtureError) {
        let object = try FixtureObject(
            value, at: path, keys: ["base", "baseVersion", "local", "remote", "remoteVersion"])
        base = try object.optionalDocument("base")
        local = object["local"] == nil ? base : try object.optionalDocument("local")
        remote = object["remote"] == nil ? base : try object.optionalDocument("remote")
        switch object["baseVersion"] {
        case nil: baseVersion = .document(Self.usualVersion)
        case .null: baseVersion = nil
        case let version?: baseVersion = version
        }
        remoteVersion =
            try object["remoteVersion"].map { value throws(FixtureError) in
                try FixtureVersion(value)
            } ?? (base == nil ? .fresh : .next)
        let documents = [base, local, remote].compactMap { $0 }
        guard let id = documents.first?["_id"] else {
            throw FixtureError(path, "neither base nor local nor remote is a document")
        }
        guard documents.allSatisfy({ $0["_id"] == id }) else {
            throw FixtureError(path, "base, local and remote must have the same _id")
        }
        documentID = id
    }

    /// The default version of the base at the remote: the first of its lineage.
    static let usualVersion: BSONDocument = [
        "spv": .int32(1), "id": .string("fixture"), "v": .int64(0),
    ]
}

extension FixtureVersion {
    init(_ value: BSONValue) throws(FixtureError) {
        self =
            switch value {
            case .string("next"): .next
            case .string("fresh"): .fresh
            case .string("same"): .same
            case .string("none"): .none
            default: .value(value)
            }
    }
}

extension FixtureHandler {
    /// Reads a handler from a command line: its name, or the JSON that a fixture has.
    ///
    /// - Throws: `FixtureError` for an unknown handler, and for one that is not built in.
    package init(commandLine text: String) throws(FixtureError) {
        var value = BSONValue.string(text)
        if text.hasBytePrefix("{") {
            do throws(BSONError) {
                value = .document(try BSONDocument(extendedJSONBytes: Array(text.utf8)))
            } catch {
                throw FixtureError("handler", "it is not Extended JSON: \(error)")
            }
        }
        try self.init(value, at: "handler")
        guard isBuiltIn else {
            throw FixtureError(
                "handler", "a handler that is built in is expected\(FixtureObject.found(value))")
        }
    }

    init(_ value: BSONValue, at path: String) throws(FixtureError) {
        if value == .null {
            self = .missing
            return
        }
        let choice = try FixtureChoice(
            value, at: path,
            kinds: ["remoteWins", "localWins", "newest", "mergeFields", "answers", "app"])
        switch choice.kind {
        case "remoteWins": self = .remoteWins
        case "localWins": self = .localWins
        case "app": self = .app
        case "newest":
            guard let field = choice.value.stringValue else {
                throw FixtureError(choice.path, "the dotted path of a field is expected")
            }
            self = .newest(field)
        case "mergeFields": self = try Self.merge(choice)
        default: self = .answers(try Answer.list(choice))
        }
    }

    private static func merge(_ choice: FixtureChoice) throws(FixtureError) -> Self {
        if choice.value == .bool(true) {
            return .mergeFields(counters: [], arrays: [], overlaps: .remoteWins)
        }
        let object = try FixtureObject(
            choice.value, at: choice.path, keys: ["counters", "arrays", "arraysByID", "overlaps"])
        let overlaps = try object["overlaps"].map { value throws(FixtureError) in
            let handler = try FixtureHandler(value, at: object.place("overlaps"))
            guard handler.isBuiltIn else {
                throw FixtureError(
                    object.place("overlaps"),
                    "a handler that is built in is expected\(FixtureObject.found(value))")
            }
            return handler
        }
        return .mergeFields(
            counters: try object.strings("counters"),
            arrays: try object.strings("arrays"),
            arraysByID: try object.strings("arraysByID"), overlaps: overlaps ?? .remoteWins)
    }
}

extension FixtureHandler {
    /// Whether the handler works without an app.
    fileprivate var isBuiltIn: Bool {
        switch self {
        case .remoteWins, .localWins, .newest, .mergeFields, .answers: true
        case .app, .missing: false
        }
    }
}

extension FixtureHandler.Answer {
    fileprivate static func list(_ choice: FixtureChoice) throws(FixtureError) -> [Self] {
        guard let array = choice.value.arrayValue, !array.isEmpty else {
            throw FixtureError(choice.path, "a list of answers is expected")
        }
        var answers: [Self] = []
        for (index, value) in array.enumerated() {
            let answer = try FixtureChoice(
                value, at: "\(choice.path)[\(index)]",
                kinds: ["useLocal", "useRemote", "use", "delete", "fail"])
            switch answer.kind {
            case "useLocal": answers.append(.useLocal)
            case "useRemote": answers.append(.useRemote)
            case "delete": answers.append(.delete)
            case "fail": answers.append(.fail)
            default:
                guard let document = answer.value.documentValue else {
                    throw FixtureError(answer.path, "a document is expected")
                }
                answers.append(.use(document))
            }
        }
        return answers
    }
}

extension FixtureExpectation {
    init(_ value: BSONValue, at path: String) throws(FixtureError) {
        let object = try FixtureObject(
            value, at: path,
            keys: ["calls", "both", "local", "remote", "version", "events", "errors", "state"])
        if object["both"] != nil {
            for key in ["local", "remote"] where object[key] != nil {
                throw FixtureError(object.place(key), "it is there beside both")
            }
            local = try object.optionalDocument("both")
            remote = local
        } else {
            _ = try object.required("local")
            _ = try object.required("remote")
            local = try object.optionalDocument("local")
            remote = try object.optionalDocument("remote")
        }
        calls = object["calls"] == nil ? nil : try Self.calls(object)
        version = try object["version"].map { value throws(FixtureError) in
            try Version(value, at: object.place("version"))
        }
        events = object["events"] == nil ? nil : try object.strings("events")
        for (index, event) in (events ?? []).enumerated() where !Self.isEvent(event) {
            throw FixtureError(
                "\(object.place("events"))[\(index)]",
                "an event such as \"remote update settled\" is expected, not \"\(event)\"")
        }
        errors = try object.strings("errors")
        state = local == nil ? "notSynced" : "synced"
        if object["state"] != nil { state = try object.string("state") }
        guard Self.states.contains(state) else {
            throw FixtureError(
                object.place("state"),
                "there is no \(state); there are \(Self.states.joined(separator: ", "))")
        }
    }

    private static func calls(_ object: FixtureObject) throws(FixtureError) -> [Call] {
        var calls: [Call] = []
        for (value, path) in try object.list("calls") {
            let call = try FixtureObject(
                value, at: path, keys: ["base", "local", "remote", "mayHaveLanded"])
            calls.append(
                Call(
                    base: try call.optionalDocument("base"),
                    local: try call.optionalDocument("local"),
                    remote: try call.optionalDocument("remote"),
                    mayHaveLanded: call["mayHaveLanded"] == .bool(true)))
        }
        return calls
    }

    private static let states = [
        "synced", "pending", "paused", "conflicted", "stale", "notSynced",
    ]

    /// Whether a text has the form `reason operation pending|settled`.
    private static func isEvent(_ text: String) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return words.count == 3 && ["pending", "settled"].contains(words[2])
            && ChangeReason.allCases.contains { "\($0)" == words[0] }
            && OperationType.allCases.contains { "\($0)" == words[1] }
    }
}

extension FixtureExpectation.Version {
    init(_ value: BSONValue, at path: String) throws(FixtureError) {
        switch value {
        case .null: self = .none
        case .document(let document) where document["lineage"] != nil:
            let object = try FixtureObject(value, at: path, keys: ["lineage", "counter"])
            let lineage = try object.string("lineage")
            guard ["same", "new"].contains(lineage) else {
                throw FixtureError(object.place("lineage"), "same or new is expected")
            }
            guard let counter = try object.required("counter").int64Value else {
                throw FixtureError(object.place("counter"), "an integer is expected")
            }
            self = .counted(counter, isSameLineage: lineage == "same")
        default: self = .value(value)
        }
    }
}
