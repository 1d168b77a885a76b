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
        let files = (fields["files"]?.arrayValue ?? []).compactMap { file -> (String, [UInt8])? in
            guard let file = file.documentValue, let path = file["path"]?.stringValue,
                let text = file["text"]?.stringValue
            else { return nil }
            return (path, Array(text.utf8))
        }
        return .json(answer(files))
    }

    private func answer(_ files: [(path: String, bytes: [UInt8])]) -> BSONDocument {
        var (error, warnings): (RuleError?, [RuleWarning]) = (nil, [])
        do throws(RuleError) {
            warnings = try RuleSet(entries: files).warnings
        } catch let fault {
            error = fault
        }
        let shown = files.map { file -> BSONValue in
            var notes = warnings.filter { $0.file.hasSameBytes(as: file.path) }.map {
                Self.note("warning", $0.path, $0.message)
            }
            if let error, error.file.hasSameBytes(as: file.path) {
                notes.insert(Self.note("error", error.path, error.message), at: 0)
            }
            return .document([
                "path": .string(file.path),
                "text": .string(String(decoding: file.bytes, as: UTF8.self)),
                "errors": .array(BSONArray(notes)),
            ])
        }
        return ["files": .array(BSONArray(shown))]
    }

    private static func note(_ level: String, _ path: String, _ message: String) -> BSONValue {
        .document([
            "level": .string(level), "path": .string(path), "message": .string(message),
        ])
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
            let steps = [Self.step("Do rules apply?", "no: the user has the role root", true)]
            return .json(
                Self.explanation(steps, sees: document, mayWrite: true, mayDelete: true, [:]))
        }
        return .json(
            Self.explanation(of: document, to: RuleAccessPolicy(rules, ruleUser).access(namespace)))
    }

    private static func explanation(
        of document: BSONDocument, to access: RuleAccess
    ) -> BSONDocument {
        var steps: [BSONValue] = []
        if let role = access.role {
            steps.append(step("Which role has the user?", "\(role)", true))
        } else {
            let reason = access.problem.map { "none: \($0.name)" } ?? "none"
            steps.append(step("Which role has the user?", reason, false))
        }
        let shown = access.visible(document)
        steps.append(
            step(
                "Does the user see the document?",
                shown == nil
                    ? "no: the role's conditions for reading do not hold for it"
                    : shown == document ? "yes, all of it" : "yes, without some fields",
                shown != nil))
        var fields = BSONDocument()
        let mayDelete = refusal(access, document, nil) == nil
        var mayWrite = false
        for (name, _) in document where name != "_id" {
            var changed = shown ?? document
            changed.set(name, to: "a change")
            let refused = refusal(access, document, changed)
            mayWrite = mayWrite || refused == nil
            fields.append(
                name,
                .document([
                    "read": .bool(shown?.contains(key: name) ?? false),
                    "write": .bool(refused == nil),
                ]))
        }
        steps.append(
            step(
                "May the user change it?",
                mayWrite
                    ? "yes, at least one field"
                    : "no: \(refusal(access, document, shown ?? document) ?? "no field may be written")",
                mayWrite))
        steps.append(
            step(
                "May the user delete it?",
                refusal(access, document, nil).map { "no: \($0)" } ?? "yes", mayDelete))
        return explanation(
            steps, sees: shown, mayWrite: mayWrite, mayDelete: mayDelete, fields)
    }

    /// Returns why a write is refused; `nil` for one that is allowed.
    private static func refusal(
        _ access: RuleAccess, _ before: BSONDocument, _ after: BSONDocument?
    ) -> String? {
        do throws(RuleDenial) {
            _ = try access.judge(from: before, toShown: after)
            return nil
        } catch {
            return error.cause.name
        }
    }

    private static func step(_ question: String, _ answer: String, _ holds: Bool) -> BSONValue {
        .document([
            "question": .string(question), "answer": .string(answer), "holds": .bool(holds),
        ])
    }

    private static func explanation(
        _ steps: [BSONValue], sees: BSONDocument?, mayWrite: Bool, mayDelete: Bool,
        _ fields: BSONDocument
    ) -> BSONDocument {
        [
            "steps": .array(BSONArray(steps)), "sees": sees.map { .document($0) } ?? .null,
            "mayWrite": .bool(mayWrite), "mayDelete": .bool(mayDelete),
            "fields": .document(fields),
        ]
    }
}
