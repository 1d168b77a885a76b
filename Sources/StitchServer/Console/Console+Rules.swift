internal import BSONStore
internal import StitchRules

// The rules of the server in the console.
extension Console {
    /// Returns the files of the rules, with the error of one that does not load.
    func rules() throws -> ConsoleAnswer {
        guard let rules = server.settings.rules else {
            throw ConsoleFault(404, "the server runs without rules (--rules)")
        }
        var answer = answer(try rules.files())
        answer.append("folder", .string(rules.folder))
        return .json(answer)
    }

    /// Checks files that are not loaded.
    func check(_ fields: BSONDocument) throws -> ConsoleAnswer {
        .json(answer(Self.files(fields)))
    }

    /// Tries files that are not loaded over the users and the documents; with an error in them it
    /// only checks.
    func diff(_ fields: BSONDocument, _ session: ConsoleSession) throws -> ConsoleAnswer {
        guard let rules = server.settings.rules?.edition.rules else {
            throw ConsoleFault(404, "the server runs without rules (--rules)")
        }
        let files = Self.files(fields)
        guard !RuleFolder.findings(files, isStrict: false).contains(where: \.isError) else {
            return .json(answer(files))
        }
        let trial = RuleTrial(
            console: self, session: session, old: RuleFolder(inForce: rules),
            new: try RuleFolder(files: files))
        return .json(try trial.document().extendedJSON(.canonical))
    }

    private static func files(_ fields: BSONDocument) -> [(path: String, bytes: [UInt8])] {
        (fields["files"]?.arrayValue ?? []).compactMap { file -> (String, [UInt8])? in
            guard let file = file.documentValue, let path = file["path"]?.stringValue,
                let text = file["text"]?.stringValue
            else { return nil }
            return (path, Array(text.utf8))
        }
    }

    private func answer(_ files: [(path: String, bytes: [UInt8])]) -> BSONDocument {
        let findings = RuleFolder.findings(files, isStrict: false)
        let shown = files.map { file -> BSONValue in
            let notes = findings.filter { $0.file.hasSameBytes(as: file.path) }
            return .document([
                "path": .string(file.path),
                "text": .string(String(decoding: file.bytes, as: UTF8.self)),
                "errors": .array(BSONArray(notes.map { .document($0.document) })),
            ])
        }
        return ["files": .array(BSONArray(shown))]
    }

    /// Explains what a user sees of a document and may write, step by step.
    func explain(_ fields: BSONDocument, _ session: ConsoleSession) throws -> ConsoleAnswer {
        guard let rules = server.settings.rules?.edition.rules else {
            throw ConsoleFault(404, "the server runs without rules (--rules)")
        }
        guard let name = fields["user"]?.stringValue,
            let text = fields["namespace"]?.stringValue, let id = fields["id"]
        else { throw ConsoleFault(400, "name a user, a namespace and the _id of a document") }
        let namespace = try Namespace(parsing: text)
        let users = backend.signIn.users
        let database = fields["database"]?.stringValue ?? "admin"
        guard let user = try users.user(name, database) else {
            throw ConsoleFault(404, "there is no user \(name) on \(database)")
        }
        let signedIn = user.signedIn(isUnderRules: true)
        let ruleUser = try UserRules(users: users).ruleUser(signedIn, rules)
        let found = try run(
            ["find": .string(namespace.collection), "filter": ["_id": ["$eq": id]], "limit": 1],
            on: namespace.database, session)
        guard
            let document = found["cursor"]?.documentValue?["firstBatch"]?.arrayValue?
                .compactMap(\.documentValue).first
        else { throw ConsoleFault(404, "\(namespace) has no document with this _id") }
        guard !signedIn.isBoundless else {
            return .json(RuleExplanation(unbound: document).document)
        }
        return .json(
            RuleExplanation(of: document, in: namespace, to: ruleUser, under: rules).document)
    }
}
