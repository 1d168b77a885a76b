extension Accumulator {
    /// Parses `{init:, initArgs:, accumulate:, accumulateArgs:, merge:, finalize:, lang:}`.
    ///
    /// Source: the server's `accumulator_js_reduce.cpp`.
    static let scripted: Parse = { (name, value, parser) throws(StoreError) in
        guard case .document(let document) = value else {
            throw .location(
                4_544_703,
                "\(name) expects an object as an argument; found: \(value.type.alias)")
        }
        var scripts: [String: any CompiledScript] = [:]
        var initial: Expression?
        var argument: Expression?
        for (key, value) in document {
            switch key {
            case "init", "accumulate", "merge", "finalize":
                scripts[key] = try script(key, value, parser)
            case "initArgs": initial = try Expression(value, in: parser.scope)
            case "accumulateArgs": argument = try Expression(value, in: parser.scope)
            case "lang":
                guard let language = value.stringValue else {
                    throw .location(
                        4_544_704, "\(name) lang must be a string; found: \(value.type.alias)")
                }
                guard language == "js" else {
                    throw .location(4_544_705, "\(name) only supports lang: 'js'")
                }
            default:
                throw .location(4_544_706, "\(name) got an unexpected field: \(key)")
            }
        }
        guard let start = scripts["init"] else { throw missing("init", 4_544_707) }
        guard let step = scripts["accumulate"] else { throw missing("accumulate", 4_544_708) }
        guard scripts["merge"] != nil else { throw missing("merge", 4_544_709) }
        guard let argument else { throw missing("accumulateArgs", 4_544_710) }
        let end = scripts["finalize"]
        if initial == nil { initial = try Expression(.array(BSONArray()), in: parser.scope) }
        return Accumulator(name, argument, initial: initial) { (value, _) throws(StoreError) in
            try ScriptAccumulatorState(value, start: start, step: step, end: end)
        }
    }

    private static func missing(_ field: String, _ code: Int32) -> StoreError {
        .location(code, "$accumulator missing required argument '\(field)'")
    }

    private static func script(
        _ field: String, _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> any CompiledScript {
        guard let constant = try Expression(value, in: parser.scope).constant else {
            throw .location(
                4_544_701, "$accumulator '\(field)' must be a constant expression")
        }
        guard let text = ScriptEngine.text(of: constant) else {
            throw .location(4_544_702, "$accumulator '\(field)' must be a String or Code")
        }
        return try ScriptEngine.parse(text)
    }

    /// Parses `{data: <a document with k and v>, eval: <script>}`, which implements `mapReduce`.
    static let reduced: Parse = { (name, value, parser) throws(StoreError) in
        guard case .document(let document) = value else {
            throw .location(
                31326, "\(name) requires a document argument, but found \(value.type.alias)")
        }
        guard let text = ScriptEngine.text(of: document["eval"]) else {
            throw .location(
                31244, "\(name) requires the 'eval' argument to be of type string, or code")
        }
        guard let data = document["data"] else {
            throw .location(31349, "\(name) requires 'data' argument")
        }
        let script = try ScriptEngine.parse(text)
        let scope = document["scope"]?.documentValue ?? [:]
        return Accumulator(name, try Expression(data, in: parser.scope)) { _, run in
            MapReduceState(script, scope, run)
        }
    }
}
