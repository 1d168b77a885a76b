package import BSONStore
internal import StitchRules

/// What rules let a user do with a document, and why.
package struct RuleExplanation: Sendable {
    /// A question with its answer.
    package struct Step: Sendable {
        /// The question.
        package let question: String
        /// The answer.
        package let answer: String
        /// Whether the answer is favourable to the user.
        package let holds: Bool
    }

    /// The permissions of one field.
    package struct Field: Sendable {
        /// The path of the field.
        package let path: String
        /// Whether the user reads it.
        package let isReadable: Bool
        /// Whether the user may change it.
        package let isWritable: Bool
    }

    /// The steps of the decision.
    package private(set) var steps: [Step] = []
    /// The document as the user sees it; `nil` when hidden.
    package let sees: BSONDocument?
    /// Whether the user may change a field.
    package let mayWrite: Bool
    /// Whether the user may delete the document.
    package let mayDelete: Bool
    /// Whether the user may insert the document.
    package let mayInsert: Bool
    /// The fields of the document.
    package let fields: [Field]

    /// Explains that no rules apply.
    init(unbound document: BSONDocument) {
        (sees, mayWrite, mayDelete, mayInsert) = (document, true, true, true)
        fields = document.fieldPaths.map { path in
            Field(path: path, isReadable: true, isWritable: !path.hasSameBytes(as: "_id"))
        }
        add("Do rules apply?", "no: the user has the role root", true)
    }

    /// Explains the decisions about a stored document.
    init(
        of document: BSONDocument, in namespace: Namespace, to user: RuleUser, under rules: RuleSet
    ) {
        let access = RuleAccessPolicy(rules, user).access(namespace)
        let allowed = access.fieldAccess(of: document)
        let (readable, writable) = (
            Set(allowed.readable.map { Name($0) }), Set(allowed.writable.map { Name($0) })
        )
        sees = access.visible(document)
        mayWrite = !writable.isEmpty
        let deletion = Self.refusal(access, document, nil)
        mayDelete = deletion == nil
        let insertion = Self.refusal(access, nil, document)
        mayInsert = insertion == nil
        fields = document.fieldPaths.map { path in
            Field(
                path: path, isReadable: readable.contains(Name(path)),
                isWritable: writable.contains(Name(path)))
        }
        for trial in rules.trials(in: namespace, for: user) where !trial.applies {
            add(
                "Does the role \(trial.name) apply?",
                "no: apply_when does not hold (\(trial.file), \(trial.path))", false)
        }
        addRole(access, rules.trials(in: namespace, for: user).last)
        add(
            "Does the user see the document?",
            sees == nil
                ? "no: the role's conditions for reading do not hold for it"
                : sees == document ? "yes, all of it" : "yes, without some fields", sees != nil)
        let refusal = Self.refusal(access, document, sees ?? document)
        add(
            "May the user change it?",
            mayWrite ? "yes, at least one field" : "no: \(refusal ?? "no field may be written")",
            mayWrite)
        add("May the user delete it?", deletion.map { "no: \($0)" } ?? "yes", mayDelete)
        add("May the user insert it?", insertion.map { "no: \($0)" } ?? "yes", mayInsert)
    }

    /// The explanation as the console shows it.
    package var document: BSONDocument {
        [
            "steps": .array(
                BSONArray(
                    steps.map { step in
                        .document([
                            "question": .string(step.question), "answer": .string(step.answer),
                            "holds": .bool(step.holds),
                        ])
                    })),
            "sees": sees.map { .document($0) } ?? .null, "mayWrite": .bool(mayWrite),
            "mayDelete": .bool(mayDelete), "mayInsert": .bool(mayInsert),
            "fields": .document(
                BSONDocument(
                    fields.map { field in
                        (
                            field.path,
                            .document([
                                "read": .bool(field.isReadable), "write": .bool(field.isWritable),
                            ])
                        )
                    })),
        ]
    }

    private mutating func addRole(_ access: RuleAccess, _ last: RoleTrial?) {
        let question = "Which role has the user?"
        guard let role = access.role, access.problem == nil else {
            let reason = access.problem.map { "none: \($0.name)" } ?? "none"
            return add(question, access.role.map { "\($0), but \(reason)" } ?? reason, false)
        }
        let place = last.map { ": apply_when holds (\($0.file), \($0.path))" } ?? ""
        add(question, role + place, true)
    }

    private mutating func add(_ question: String, _ answer: String, _ holds: Bool) {
        steps.append(Step(question: question, answer: answer, holds: holds))
    }

    /// Returns why a write is refused; `nil` for one that is allowed.
    private static func refusal(
        _ access: RuleAccess, _ before: BSONDocument?, _ after: BSONDocument?
    ) -> String? {
        do throws(RuleDenial) {
            _ = try access.judge(from: before, toShown: after)
            return nil
        } catch {
            guard case .fieldsDenied(let paths) = error.cause else { return error.cause.name }
            return "\(error.cause.name) (\(paths.joined(separator: ", ")))"
        }
    }
}
