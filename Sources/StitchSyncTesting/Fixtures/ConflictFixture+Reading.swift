internal import BSONStore

extension ConflictFixture {
    /// Reads the fixtures of a file's text: an object with a list of cases.
    ///
    /// - Throws: `FixtureError` for text that is no JSON, for keys that there are not, and for values
    ///   that are of another kind.
    static func cases(json bytes: [UInt8]) throws(FixtureError) -> [ConflictFixture] {
        let document: BSONDocument
        do {
            document = try BSONDocument(extendedJSONBytes: bytes)
        } catch {
            throw FixtureError("", "it is not Extended JSON: \(error)")
        }
        let file = try FixtureObject(
            .document(document), at: "", keys: ["$schema", "description", "cases"])
        let list = try file.list("cases")
        guard !list.isEmpty else { throw FixtureError("cases", "there are none") }
        var cases: [ConflictFixture] = []
        var names: Set<String> = []
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
        handler = try FixtureHandler(object.required("handler"), at: object.place("handler"))
        start = try FixtureStart(object.required("start"), at: object.place("start"))
        steps = try FixtureStep.list(object, "steps")
        if object["steps"] == nil { steps = [.sync(passes: nil)] }
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
            throw FixtureError(path, "base, local and remote have the same _id")
        }
        documentID = id
    }

    /// The version that the base has at the remote unless told: the first of its lineage.
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
            choice.value, at: choice.path, keys: ["counters", "arrays", "overlaps"])
        let overlaps = try object["overlaps"].map { value throws(FixtureError) in
            try FixtureHandler(value, at: object.place("overlaps"))
        }
        return .mergeFields(
            counters: Set(try object.strings("counters")),
            arrays: Set(try object.strings("arrays")), overlaps: overlaps ?? .remoteWins)
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
            keys: ["calls", "local", "remote", "version", "events", "errors", "state"])
        _ = try object.required("local")
        _ = try object.required("remote")
        _ = try object.required("calls")
        local = try object.optionalDocument("local")
        remote = try object.optionalDocument("remote")
        calls = []
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
        version = try object["version"].map { value throws(FixtureError) in
            try Version(value, at: object.place("version"))
        }
        events = object["events"] == nil ? nil : try object.strings("events")
        errors = try object.strings("errors")
        state = local == nil ? "notSynced" : "synced"
        if object["state"] != nil { state = try object.string("state") }
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
