/// A stage that writes its input into a collection; each document replaces or changes its match.
struct MergeStage: PipelineWritingStage {
    /// The action on an existing document.
    enum Matched: Sendable {
        case replace
        case keepExisting
        case merge
        case fail
        case pipeline(Pipeline)

        var name: String {
            switch self {
            case .replace: "replace"
            case .keepExisting: "keepExisting"
            case .merge: "merge"
            case .fail: "fail"
            case .pipeline: "pipeline"
            }
        }
    }

    /// The action if there is no match.
    enum NotMatched: String, Sendable {
        case insert
        case discard
        case fail
    }

    var target = (database: String?.none, collection: "")
    /// The fields to match on; `nil` for the `_id`.
    var on: [String]?
    var matched = Matched.merge
    var notMatched = NotMatched.insert
    /// The variables of the pipeline, in the order of their slots behind the outer ones.
    var variables: [Expression] = []

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        switch value {
        case .string(let name):
            guard !name.isEmpty else {
                throw .location(5_786_800, "$merge 'into' field cannot be an empty string")
            }
            var stage = MergeStage()
            stage.target.collection = name
            return [stage]
        case .document(let document): return [try MergeParser(document, parser).stage()]
        default:
            throw StoreError(
                .typeMismatch,
                "$merge requires a string or object argument, but found \(value.type.alias)")
        }
    }

    var fields: [String] { on ?? ["_id"] }

    func target(from namespace: Namespace) -> Namespace {
        Namespace(target.database ?? namespace.database, target.collection)
    }

    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        let namespace = target(from: run.namespace)
        try namespace.check()
        let uniqueness = try on.map { (fields) throws(StoreError) in
            try run.source.uniqueness(namespace, fields, run.collation)
        }
        guard uniqueness != FieldUniqueness.none else {
            throw .location(
                51183, "Cannot find index to verify that join fields will be unique")
        }
        let target = try run.source.target()
        // The index of the `_id` has all documents.
        let allowsNull = (uniqueness ?? .ofAll) == .ofAll
        // The documents are written after all of them were read, so that the pipeline does not read
        // its own output.
        return BlockingSink(next, PipelineMemory("$merge", PipelineMemory.bytesMaxWithDiskUse)) {
            (documents, _) throws(StoreError) in
            let writer = MergeWriter(
                stage: self, namespace: namespace, target: target, run: run,
                allowsNull: allowsNull)
            var duplicate: StoreError?
            for document in documents {
                do throws(StoreError) {
                    try writer.write(document)
                } catch {
                    // The first of the duplicates is reported after the other documents were
                    // inserted, as the server's unordered inserts do.
                    guard case .fail = matched, error.code == .duplicateKey else { throw error }
                    duplicate = duplicate ?? error
                }
            }
            if let duplicate { throw duplicate }
        }
    }
}

/// A writer of the documents of `$merge`.
private struct MergeWriter {
    let stage: MergeStage
    let namespace: Namespace
    let target: any AggregationTarget
    let run: PipelineRun
    /// Whether a field to match on may be null or missing.
    let allowsNull: Bool

    func write(_ document: BSONDocument) throws(StoreError) {
        var document = document
        if document["_id"] == nil, stage.fields.contains("_id") {
            document = BSONDocument([("_id", .objectID(BSONObjectID()))] + document.map { $0 })
        }
        var options = FilterOptions(collation: run.collation)
        options.inheritsCollation = false
        let filter = try Filter(try equalities(of: document), options: options)
        guard let existing = try target.first(namespace, filter) else {
            return try add(document)
        }
        guard let changed = try changed(existing, by: document) else { return }
        guard BSONOrder.compare(changed["_id"] ?? .null, existing["_id"] ?? .null) == .equal
        else {
            throw StoreError(
                .immutableField,
                "$merge failed to update the matching document, did you attempt to modify the _id "
                    + "or the shard key? :: caused by :: After applying the update, the (immutable) "
                    + "field '_id' was found to have been altered to _id: "
                    + ShellText.text(of: changed["_id"] ?? .null))
        }
        if changed != existing { try target.replace(namespace, existing, by: changed) }
    }

    private func equalities(of document: BSONDocument) throws(StoreError) -> BSONDocument {
        var equalities = BSONDocument()
        for field in stage.fields {
            let value = NestedField.value(field.dottedParts, in: document)
            if case .array? = value {
                throw .location(51185, "$merge write error: 'on' field '\(field)' is an array")
            }
            if let value, !value.isNullish {
                equalities.append(field, ["$eq": value])
                continue
            }
            guard allowsNull else {
                throw .location(
                    51132,
                    "$merge write error: 'on' field '\(field)' cannot be missing, null or "
                        + "undefined if supporting index is sparse")
            }
            equalities.append(field, ["$eq": .null])
        }
        return equalities
    }

    private func add(_ document: BSONDocument) throws(StoreError) {
        switch stage.notMatched {
        case .insert: try target.add(namespace, document)
        case .discard: return
        case .fail:
            throw .location(
                13113,
                "$merge could not find a matching document in the target collection for at least "
                    + "one document in the source collection")
        }
    }

    /// Returns the new version of the existing document; `nil` if it stays.
    private func changed(
        _ existing: BSONDocument, by document: BSONDocument
    ) throws(StoreError) -> BSONDocument? {
        switch stage.matched {
        case .replace:
            return Self.keepingID(of: existing, in: document)
        case .keepExisting: return nil
        case .merge:
            guard !document.isEmpty else { return nil }
            return try target.setting(document, in: existing)
        case .fail:
            // The server inserts and then fails because the key exists.
            try target.add(namespace, document)
            return nil
        case .pipeline(let pipeline):
            let frame = run.frame(for: document)
            var values = run.frame.values
            for variable in stage.variables {
                values.append(try variable.evaluate(document, frame))
            }
            let nested = run.nested(on: namespace, values: values, collation: run.collation)
            return Self.keepingID(of: existing, in: try pipeline.transform(existing, nested))
        }
    }

    /// Returns a new version with the `_id` of the old one unless it has one.
    private static func keepingID(
        of existing: BSONDocument, in document: BSONDocument
    ) -> BSONDocument {
        guard document["_id"] == nil, let id = existing["_id"] else { return document }
        return BSONDocument([("_id", id)] + document.map { $0 })
    }
}

/// A parser for the argument of `$merge`.
private struct MergeParser {
    private let fields: StageArguments
    private let parser: PipelineParser

    init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        fields = try StageArguments(
            "$merge", document, known: ["into", "on", "let", "whenMatched", "whenNotMatched"])
        self.parser = parser
    }

    func stage() throws(StoreError) -> MergeStage {
        var stage = MergeStage()
        stage.target = try target()
        stage.on = try fields["on"].map { (value) throws(StoreError) in try matchFields(value) }
        stage.notMatched = try notMatched()
        let variables = try fields.document("let")
        try readMatched(variables, into: &stage)
        let (matched, notMatched) = (stage.matched.name, stage.notMatched.rawValue)
        let isSupported =
            switch stage.matched {
            case .keepExisting, .fail: stage.notMatched == .insert
            case .replace, .merge, .pipeline: true
            }
        guard isSupported else {
            throw .location(
                51181,
                "Combination of $merge modes 'whenMatched: \(matched)' and 'whenNotMatched: "
                    + "\(notMatched)' is not supported")
        }
        if case .pipeline = stage.matched { return stage }
        guard variables == nil else {
            throw .location(
                51199, "Cannot use 'let' variables with 'whenMatched: \(matched)' mode")
        }
        return stage
    }

    private func target() throws(StoreError) -> (database: String?, collection: String) {
        switch try fields.required("into") {
        case .string(let name):
            guard !name.isEmpty else {
                throw .location(5_786_800, "$merge 'into' field cannot be an empty string")
            }
            return (nil, name)
        case .document(let document):
            let names = try StageArguments("into", document, known: ["db", "coll"])
            guard let name = try names.string("coll"), !name.isEmpty else {
                throw .location(
                    5_786_801,
                    "$merge 'into' field must specify a 'coll' that is not empty, null or undefined"
                )
            }
            return (try names.string("db"), name)
        case let value:
            throw .location(
                51178,
                "$merge 'into' field  must be either a string or an object, but found "
                    + value.type.alias)
        }
    }

    private func notMatched() throws(StoreError) -> MergeStage.NotMatched {
        guard let name = try fields.string("whenNotMatched") else { return .insert }
        guard let mode = MergeStage.NotMatched(rawValue: name) else {
            throw StoreError(
                .badValue,
                "Enumeration value '\(name)' for field '$merge.whenNotMatched' is not a valid "
                    + "value.")
        }
        return mode
    }

    private func readMatched(
        _ variables: BSONDocument?, into stage: inout MergeStage
    ) throws(StoreError) {
        switch fields["whenMatched"] {
        case nil: return
        case .string("replace"): stage.matched = .replace
        case .string("keepExisting"): stage.matched = .keepExisting
        case .string("merge"): stage.matched = .merge
        case .string("fail"): stage.matched = .fail
        case .string(let name):
            throw StoreError(
                .badValue,
                "Enumeration value '\(name)' for field 'whenMatched' is not a valid value.")
        case .array(let array):
            var variables: BSONDocument = variables ?? ["new": "$$ROOT"]
            if let new = variables["new"], new != "$$ROOT" {
                throw .location(
                    51273,
                    "'let' may not define a value for the reserved 'new' variable other than "
                        + "'$$ROOT'")
            }
            if variables["new"] == nil, stage.notMatched == .insert {
                variables.append("new", "$$ROOT")
            }
            var nested = try parser.nested(in: .update)
            for (name, value) in variables {
                stage.variables.append(try Expression(value, in: parser.scope))
                try nested.scope.define(name)
            }
            stage.matched = .pipeline(try Pipeline(nested: array, nested))
        case .some(let value):
            throw .location(
                51191,
                "$merge 'whenMatched' field  must be either a string or an array, but found "
                    + value.type.alias)
        }
    }

    /// Returns the fields that `$merge` matches on.
    private func matchFields(_ value: BSONValue) throws(StoreError) -> [String] {
        var fields: [String] = []
        switch value {
        case .string(let field): fields = [field]
        case .array(let array):
            for element in array {
                guard case .string(let field) = element else {
                    throw .location(
                        51134,
                        "$merge 'on' array elements must be strings, but found \(element.type.alias)"
                    )
                }
                fields.append(field)
            }
        default:
            throw .location(
                51186,
                "$merge 'on' field  must be either a string or an array of strings, but found "
                    + value.type.alias)
        }
        guard !fields.isEmpty else {
            throw .location(
                51187, "If explicitly specifying $merge 'on', must include at least one field")
        }
        var seen: Set<Name> = []
        for field in fields {
            _ = try ExpressionPath(field)
            guard seen.insert(field).inserted else {
                throw .location(31465, "Found a duplicate field '\(field)'")
            }
        }
        return fields
    }
}

extension Pipeline {
    /// Returns the result of an update's pipeline for one document.
    ///
    /// - Throws: the errors of the stages.
    func transform(
        _ document: BSONDocument, _ run: PipelineRun
    ) throws(StoreError) -> BSONDocument {
        var result = document
        let last = ClosureSink { (document) throws(StoreError) in
            result = document
            return true
        }
        let first = try Self.chain(stages[...], into: last, run)
        _ = try first.take(document)
        return result
    }
}
