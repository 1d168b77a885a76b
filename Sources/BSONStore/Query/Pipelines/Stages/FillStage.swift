/// A stage that replaces null and missing fields.
///
/// It consists of `$setWindowFields` with `$locf` or `$linearFill`, and `$addFields` with
/// `$ifNull`.
///
/// Source: MongoDB manual, "$fill (aggregation)".
enum FillStage {
    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw StoreError(
                .failedToParse,
                "The $fill stage specification must be an object, found \(value.type.alias)")
        }
        let fields = try StageArguments(
            "$fill", document, known: ["partitionBy", "partitionByFields", "sortBy", "output"])
        _ = try fields.required("output")
        var windows = BSONDocument()
        var additions = BSONDocument()
        for (name, value) in try fields.document("output") ?? BSONDocument() {
            try read(name, value, &windows, &additions)
        }
        guard !windows.isEmpty || !additions.isEmpty else {
            throw .location(
                6_050_203,
                "The output field in '$fill' must contain an object with at least one element")
        }
        var stages: [any PipelineStage] = []
        let sortBy = try fields.document("sortBy")
        let partition = try partition(fields)
        if !windows.isEmpty {
            var window = BSONDocument()
            if let sortBy { window.append("sortBy", .document(sortBy)) }
            if let partition { window.append("partitionBy", partition) }
            window.append("output", .document(windows))
            stages += try WindowStage.parse(.document(window), parser)
        }
        if !additions.isEmpty {
            stages += try ProjectStage.addFields(.document(additions), parser)
        }
        return stages
    }

    private static func read(
        _ name: String, _ value: BSONValue, _ windows: inout BSONDocument,
        _ additions: inout BSONDocument
    ) throws(StoreError) {
        guard case .document(let document) = value else {
            throw .location(
                6_050_200,
                "Each fill output specification must be an object with exactly one field")
        }
        let fields = try StageArguments("$fill", document, known: ["method", "value"])
        let field = BSONValue.string("$" + name)
        if let method = try fields.string("method") {
            guard document["value"] == nil else {
                throw .location(
                    6_050_201,
                    "Each fill output specification must have exactly one of 'method' or 'value' "
                        + "fields, not both")
            }
            guard method == "locf" || method == "linear" else {
                throw .location(6_050_202, "Method must be either locf or linear")
            }
            let function = method == "locf" ? "$locf" : "$linearFill"
            windows.append(name, .document([function: field]))
        } else if let value = document["value"] {
            additions.append(name, ["$ifNull": [field, value]])
        }
    }

    private static func partition(_ fields: StageArguments) throws(StoreError) -> BSONValue? {
        let names = try fields.array("partitionByFields")
        if let expression = fields["partitionBy"] {
            guard names == nil else {
                throw .location(
                    6_050_204,
                    "Maximum one of 'partitionBy' and 'partitionByFields can be specified in "
                        + "'$fill'")
            }
            switch expression {
            case .string, .document: return expression
            default: throw fields.wrongType("partitionBy", expression, "object")
            }
        }
        guard let names else { return nil }
        var partition = BSONDocument()
        for value in names {
            guard case .string(let name) = value else {
                throw fields.wrongType("partitionByFields", value, "string")
            }
            _ = try ExpressionPath(name)
            // A path cannot be a key of a literal document.
            partition = NestedField.setting(
                name.dottedParts.filter { !$0.isEmpty }, to: .string("$" + name),
                in: partition)
        }
        return .document(partition)
    }
}
