internal import BSONStore

/// The check of query options that exclude each other.
///
/// Source: the server's `query_request_helper.cpp` and `canonical_query.cpp`.
enum QueryOptionsCheck {
    private static let natural = "$natural"

    /// Checks `min`, `max`, `sort` and `hint` of a `find`.
    ///
    /// - Throws: 2 and 51176 with MongoDB's texts.
    static func check(_ call: CommandCall) throws(CommandFailure) {
        let (min, max) = (call.document("min") ?? [:], call.document("max") ?? [:])
        if !min.isEmpty, !max.isEmpty, !min.keys.hasSameBytes(as: max.keys) {
            throw CommandFailure(51176, "min and max must have the same field names")
        }
        let (sort, hint) = (call.document("sort") ?? [:], call.document("hint") ?? [:])
        for (document, what) in [(sort, "sort"), (hint, "hint")] {
            guard let direction = document[natural], direction.documentValue == nil else {
                continue
            }
            guard direction.wholeNumber == 1 || direction.wholeNumber == -1 else {
                throw CommandFailure(
                    .badValue, "$natural \(what) cannot be set to a value other than -1 or 1.")
            }
            guard document.count == 1 else {
                throw CommandFailure(
                    .badValue,
                    "Cannot include '$natural' in compound \(what): "
                        + ShellText.text(of: .document(document)))
            }
        }
        guard let direction = sort[natural] else { return }
        guard let hinted = hint[natural] else {
            guard call["hint"] == nil || call["hint"] == .document([:]) else {
                throw CommandFailure(
                    .badValue, "index hint not allowed with $natural sort order")
            }
            return
        }
        guard hinted.wholeNumber == direction.wholeNumber else {
            throw CommandFailure(
                .badValue, "$natural hint must be in the same direction as $natural sort order")
        }
    }

    /// Checks that metadata, such as a text score or a distance, is used only if the filter
    /// produces it.
    ///
    /// - Throws: 2 for `$text` and `$near` together with options they exclude, 40218 for missing
    ///   metadata.
    static func check(_ filter: Filter, _ call: CommandCall, fields: String) throws(CommandFailure)
    {
        let sort = call.document("sort") ?? [:]
        let hint = call["hint"].flatMap { $0 == .document([:]) ? nil : $0 }
        if filter.usesNear {
            guard sort[natural] == nil else {
                throw CommandFailure(
                    .badValue, "geoNear expression not allowed with $natural sort order")
            }
            guard hint?.documentValue?[natural] == nil else {
                throw CommandFailure(
                    .badValue, "geoNear expression not allowed with $natural hint")
            }
            guard !call.flag("tailable") else {
                throw CommandFailure(
                    .badValue, "Tailable cursors and geo $near cannot be used together")
            }
        }
        if filter.usesText {
            guard sort[natural] == nil else {
                throw CommandFailure(
                    .badValue, "text expression not allowed with $natural sort order")
            }
            guard hint == nil else {
                throw CommandFailure(.badValue, "text and hint not allowed in same query")
            }
            guard !call.flag("tailable") else {
                throw CommandFailure(
                    .badValue, "text and tailable cursor not allowed in same query")
            }
        }
        var wanted: Set<String> = []
        for document in [sort, call.document(fields) ?? [:]] {
            collect(.document(document), into: &wanted)
        }
        guard !sort.isEmpty || !wanted.contains("sortKey") else {
            throw CommandFailure(
                .badValue, "cannot use sortKey $meta projection without a sort")
        }
        let missing: [(name: String, text: String)] = [
            ("textScore", filter.usesText ? "" : "text score"),
            ("geoNearDistance", filter.usesNear ? "" : "$geoNear distance"),
            ("geoNearPoint", filter.usesNear ? "" : "$geoNear point"),
        ]
        for (name, text) in missing where !text.isEmpty && wanted.contains(name) {
            throw CommandFailure(
                40218, "query requires \(text) metadata, but it is not available")
        }
    }

    /// Refuses options that do not work on a view, since a pipeline answers the query.
    ///
    /// - Throws: 168 (InvalidPipelineOperator), and the errors of `$project` about the
    ///   projection.
    static func checkOfView(_ call: CommandCall) throws {
        let isSingle = call.flag("singleBatch") && call.number("limit") != 1
        let asked: [(option: String, isAsked: Bool)] = [
            ("Option min", call.document("min")?.isEmpty == false),
            ("Option max", call.document("max")?.isEmpty == false),
            ("Option returnKey", call.flag("returnKey")),
            ("Option showRecordId", call.flag("showRecordId")),
            ("Option noCursorTimeout", call.flag("noCursorTimeout")),
            ("Option allowPartialResults", call.flag("allowPartialResults")),
            ("Sort option $natural", call.document("sort")?[natural] != nil),
            ("Option singleBatch", isSingle),
        ]
        for (option, isAsked) in asked where isAsked {
            throw CommandFailure(
                .invalidPipelineOperator, "\(option) not supported in aggregation.")
        }
        guard !call.flag("tailable") else {
            throw CommandFailure(
                .invalidPipelineOperator, "Tailable cursors are not supported in aggregation.")
        }
        guard let projection = call.document("projection"), !projection.isEmpty else { return }
        _ = try Pipeline(
            [["$project": .document(projection)]],
            options: PipelineOptions(let: call.document("let")))
    }

    /// Collects the names of the metadata in expressions.
    private static func collect(_ value: BSONValue, into names: inout Set<String>) {
        for member in value.arrayValue ?? [] { collect(member, into: &names) }
        for (key, value) in value.documentValue ?? [:] where key != "$literal" {
            if key == "$meta", let name = value.stringValue {
                names.insert(name)
            } else {
                collect(value, into: &names)
            }
        }
    }
}
