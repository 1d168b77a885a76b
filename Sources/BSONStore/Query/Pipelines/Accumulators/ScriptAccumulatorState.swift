/// The state that an accumulator's scripts compute for a group.
final class ScriptAccumulatorState: AccumulatorState {
    private let step: any CompiledScript
    private let end: (any CompiledScript)?
    private var state: BSONValue
    private var byteCount = 0

    init(
        _ arguments: BSONValue?, start: any CompiledScript, step: any CompiledScript,
        end: (any CompiledScript)?
    ) throws(StoreError) {
        guard case .array(let array)? = arguments else {
            throw .location(
                4_544_711,
                "$accumulator initArgs must evaluate to an array: "
                    + ExpressionText.text(of: arguments))
        }
        self.step = step
        self.end = end
        state = try start.value(of: array.values, scope: [:])
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard case .array(let array)? = value else {
            throw .location(
                4_544_712,
                "$accumulator accumulateArgs must evaluate to an array: "
                    + ExpressionText.text(of: value))
        }
        state = try step.value(of: [state] + array.values, scope: [:])
        let (before, now) = (byteCount, BSONWriter.count(state))
        byteCount = now
        return now - before
    }

    override func result() throws(StoreError) -> BSONValue? {
        try end?.value(of: [state], scope: [:]) ?? state
    }
}
