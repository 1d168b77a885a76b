/// The tests of a filter that compute something: `$expr`, `$where`, geometry, a collation.
///
/// They are rare, and most filters have none. A test of a document may fail; the first error is kept,
/// and the matcher throws it in place of a result.
struct ComputedTests {
    private let state: UnsafeMutablePointer<State>?

    private struct State {
        let documentTests: [DocumentTest]
        let valueTests: [ValueTest]
        let frame: ExpressionFrame
        let collation: Collation?
        var error: StoreError?
    }

    /// Calls a closure with the computed tests of a filter, which are valid until it returns.
    ///
    /// - Parameter frame: the values of variables; without it, `$$NOW` is the time of the match: that
    ///   of the write for a validator.
    @inline(__always)
    static func with<R, E: Error>(
        _ filter: CompiledFilter, _ frame: ExpressionFrame?,
        _ body: (ComputedTests) throws(E) -> R
    ) throws(E) -> R {
        guard filter.hasComputedTests else { return try body(ComputedTests(state: nil)) }
        var state = State(
            documentTests: filter.documentTests, valueTests: filter.valueTests,
            frame: frame ?? ExpressionFrame(now: CommandTime.now), collation: filter.collation)
        return try withUnsafeMutablePointer(to: &state) { (state) throws(E) -> R in
            try body(ComputedTests(state: state))
        }
    }

    /// The first error of a test; a document with an error does not match.
    var error: StoreError? {
        @inline(__always) get { state.flatMap { $0.pointee.error } }
    }

    /// Whether a document passes a test of the whole; an error is kept.
    func documentPasses(_ test: Int32, _ document: RawDocument) -> Bool {
        guard let state, state.pointee.error == nil else { return false }
        do throws(StoreError) {
            return try state.pointee.documentTests[Int(test)].passes(
                BSONDocument(unchecked: Array(document.bytes)), state.pointee.frame,
                collation: state.pointee.collation)
        } catch {
            state.pointee.error = error
            return false
        }
    }

    /// Whether a value passes a test.
    func valuePasses(_ test: Int32, _ value: BSONRawValue) -> Bool {
        state?.pointee.valueTests[Int(test)].passes(value) ?? false
    }

    /// Whether the lack of a value passes a test.
    func missingPasses(_ test: Int32) -> Bool {
        state?.pointee.valueTests[Int(test)].passesMissing ?? false
    }
}
