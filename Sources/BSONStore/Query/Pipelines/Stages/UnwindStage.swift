/// A stage that returns a document for every value of an array in a document.
struct UnwindStage: PipelineStage {
    let path: [String]
    /// The field for the value's position.
    let indexPath: [String]?
    /// Whether documents without the array, or with an empty one, are passed on unchanged.
    let keepsEmpty: Bool

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        switch value {
        case .string(let text):
            return [try UnwindStage(text, indexPath: nil, keepsEmpty: false)]
        case .document(let document): return [try parse(document)]
        default:
            throw .location(
                15981,
                "expected either a string or an object as specification for $unwind stage, got "
                    + value.type.alias)
        }
    }

    private static func parse(_ document: BSONDocument) throws(StoreError) -> UnwindStage {
        var path: String?
        var index: String?
        var keepsEmpty = false
        for (key, value) in document {
            switch key {
            case "path":
                guard case .string(let text) = value else {
                    throw .location(
                        28808,
                        "expected a string as the path for $unwind stage, got \(value.type.alias)")
                }
                path = text
            case "preserveNullAndEmptyArrays":
                guard case .bool(let flag) = value else {
                    throw .location(
                        28809,
                        "expected a boolean for the preserveNullAndEmptyArrays option to $unwind "
                            + "stage, got \(value.type.alias)")
                }
                keepsEmpty = flag
            case "includeArrayIndex":
                guard case .string(let text) = value, !text.isEmpty else {
                    throw .location(
                        28810,
                        "expected a non-empty string for the includeArrayIndex  option to $unwind "
                            + "stage, got \(value.type.alias)")
                }
                guard !text.hasBytePrefix("$") else {
                    throw .location(
                        28822,
                        "includeArrayIndex option to $unwind stage should not be prefixed with a "
                            + "'$': \(text)")
                }
                index = text
            default:
                throw .location(28811, "unrecognized option to $unwind stage: \(key)")
            }
        }
        guard let path else { throw .location(28812, "no path specified to $unwind stage") }
        return try UnwindStage(path, indexPath: index, keepsEmpty: keepsEmpty)
    }

    private init(_ text: String, indexPath: String?, keepsEmpty: Bool) throws(StoreError) {
        guard !text.isEmpty else { throw .location(28812, "no path specified to $unwind stage") }
        guard text.hasBytePrefix("$") else {
            throw .location(
                28818, "path option to $unwind stage should be prefixed with a '$': \(text)")
        }
        guard !text.utf8.contains(0) else {
            throw .location(16419, "field path must not contain embedded null characters")
        }
        path = try ExpressionPath(String(text.unicodeScalars.dropFirst())).parts
        if let indexPath {
            self.indexPath = try ExpressionPath(indexPath).parts
        } else {
            self.indexPath = nil
        }
        self.keepsEmpty = keepsEmpty
    }

    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink {
        ExpandingSink(next) { (document, next) throws(StoreError) in
            try unwind(document, next)
        }
    }

    private func unwind(
        _ document: BSONDocument, _ next: any PipelineSink
    ) throws(StoreError) -> Bool {
        guard let value = NestedField.value(path, in: document), !value.isNullish else {
            guard keepsEmpty else { return true }
            return try next.take(numbered(document, .null))
        }
        guard case .array(let array) = value else {
            return try next.take(numbered(document, .null))
        }
        guard !array.isEmpty else {
            guard keepsEmpty else { return true }
            return try next.take(
                numbered(NestedField.setting(path, to: nil, in: document), .null))
        }
        var index: Int64 = 0
        // The copy for each value omits the other values.
        let frame = NestedField.setting(path, to: .null, in: document).compacted()
        for value in array {
            try WorkBudget.spend(1 + frame.byteCount >> 12)
            let unwound = NestedField.setting(path, to: value, in: frame)
            guard try next.take(numbered(unwound, .int64(index))) else { return false }
            index += 1
        }
        return true
    }

    private func numbered(_ document: BSONDocument, _ index: BSONValue) -> BSONDocument {
        guard let indexPath else { return document }
        return NestedField.setting(indexPath, to: index, in: document)
    }
}
