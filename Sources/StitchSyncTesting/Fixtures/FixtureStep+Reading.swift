internal import BSONStore

extension FixtureStep {
    private static let kinds = [
        "local", "remote", "network", "lose", "fail", "loseHistory", "before", "whileAsked", "kill",
        "sync", "resume",
    ]

    static func list(
        _ value: BSONValue, at path: String
    ) throws(FixtureError) -> [FixtureStep] {
        var steps: [FixtureStep] = []
        for (value, path) in try FixtureObject.list(value, at: path) {
            steps.append(try FixtureStep(FixtureChoice(value, at: path, kinds: kinds)))
        }
        return steps
    }

    private init(_ choice: FixtureChoice) throws(FixtureError) {
        switch choice.kind {
        case "local": self = .local(try Edit(choice, alsoKeys: []))
        case "remote":
            let version = try choice.value.documentValue?["version"].map {
                value throws(FixtureError) in try FixtureVersion(value)
            }
            self = .remote(try Edit(choice, alsoKeys: ["version"]), version ?? .next)
        case "network": self = .network(isOn: try Self.isOn(choice))
        case "lose": self = try Self.loss(choice)
        case "fail":
            let object = try FixtureObject(
                choice.value, at: choice.path, keys: ["request", "class"])
            let name = try object.string("class")
            guard Self.failures.contains(name) else {
                throw FixtureError(
                    object.place("class"),
                    "there is no \(name); there are \(Self.failures.joined(separator: ", "))")
            }
            self = .fail(try Self.request(object, "request"), name)
        case "loseHistory": self = .loseHistory
        case "before":
            let object = try FixtureObject(choice.value, at: choice.path, keys: ["request", "do"])
            let steps = try Self.list(object.required("do"), at: object.place("do"))
            self = .before(try Self.request(object, "request"), steps)
        case "whileAsked": self = .whileAsked(try Self.list(choice.value, at: choice.path))
        case "kill": self = .kill(try Kill(choice))
        case "sync": self = try Self.pass(choice)
        default: self = .resume
        }
    }

    /// The error classes with which a fixture's remote can fail.
    static let failures = ["retryable", "unknown", "rejected"]

    private static func isOn(_ choice: FixtureChoice) throws(FixtureError) -> Bool {
        switch choice.value {
        case .string("on"): true
        case .string("off"): false
        default: throw FixtureError(choice.path, "on or off is expected")
        }
    }

    private static func loss(_ choice: FixtureChoice) throws(FixtureError) -> Self {
        let object = try FixtureObject(choice.value, at: choice.path, keys: ["request", "answer"])
        guard object.document.count == 1 else {
            throw FixtureError(choice.path, "either a request or an answer is lost")
        }
        let isAnswer = object["answer"] != nil
        return .lose(try request(object, isAnswer ? "answer" : "request"), isAnswer: isAnswer)
    }

    private static func request(
        _ object: FixtureObject, _ key: String
    ) throws(FixtureError) -> FaultyRemote.Request {
        let name = try object.string(key)
        guard let request = FaultyRemote.Request(rawValue: name) else {
            let all = FaultyRemote.Request.allCases.map(\.rawValue).joined(separator: ", ")
            throw FixtureError(object.place(key), "there is no \(name); there are \(all)")
        }
        return request
    }

    private static func pass(_ choice: FixtureChoice) throws(FixtureError) -> Self {
        if choice.value == .bool(true) || choice.value == .string("quiet") {
            return .sync(passes: nil)
        }
        return .sync(passes: try FixtureObject.count(choice.value, at: choice.path))
    }
}

extension FixtureStep.Edit {
    fileprivate init(_ choice: FixtureChoice, alsoKeys: Set<String>) throws(FixtureError) {
        if choice.value == .string("delete") {
            self = .delete
            return
        }
        let kinds: Set = ["insert", "replace", "update"]
        let object = try FixtureObject(
            choice.value, at: choice.path, keys: kinds.union(alsoKeys).union(["delete"]))
        let edits = object.document.keys.filter { !alsoKeys.contains($0) }
        guard let kind = edits.first, edits.count == 1 else {
            throw FixtureError(
                choice.path, "one of insert, replace, update and delete is expected")
        }
        switch kind {
        case "insert": self = .insert(try object.document(kind))
        case "replace": self = .replace(try object.document(kind))
        case "update": self = .update(try object.document(kind))
        default:
            guard object[kind] == .bool(true) else {
                throw FixtureError(
                    object.place(kind), "true is expected\(FixtureObject.found(object[kind]))")
            }
            self = .delete
        }
    }
}

extension FixtureStep {
    /// Checks that all edits are of the fixture's document.
    ///
    /// - Throws: `FixtureError` for an edit of another document.
    func expectDocument(_ id: BSONValue, at path: String) throws(FixtureError) {
        switch self {
        case .local(.insert(let document)), .remote(.insert(let document), _):
            guard document["_id"] == id else { throw Self.otherID(id, document, at: path) }
        case .local(.replace(let document)), .remote(.replace(let document), _):
            guard document["_id"] ?? id == id else { throw Self.otherID(id, document, at: path) }
        case .before(_, let steps), .whileAsked(let steps):
            for step in steps { try step.expectDocument(id, at: path) }
        case .local, .remote, .network, .lose, .fail, .loseHistory, .kill, .sync, .resume: return
        }
    }

    private static func otherID(
        _ id: BSONValue, _ document: BSONDocument, at path: String
    ) -> FixtureError {
        FixtureError(
            path,
            "the fixture's document, with _id \(id.extendedJSON(.relaxed)), is expected"
                + FixtureObject.found(.document(document)))
    }
}

extension FixtureStep.Kill {
    fileprivate init(_ choice: FixtureChoice) throws(FixtureError) {
        if choice.value == .string("now") || choice.value == .bool(true) {
            self = .now
            return
        }
        let object = try FixtureObject(choice.value, at: choice.path, keys: ["before", "after"])
        guard object.document.count == 1 else {
            throw FixtureError(choice.path, "before or after a commit is expected")
        }
        let isBefore = object["before"] != nil
        self = .atCommit(try object.count(isBefore ? "before" : "after"), isBefore: isBefore)
    }
}
