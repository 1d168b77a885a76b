/// The state of a program's special tests while it runs, and the first error of one.
///
/// Only programs with such tests have one; it exists while the program is lent.
struct FilterContext {
    let documentTests: [DocumentTest]
    let valueTests: [ValueTest]
    let frame: ExpressionFrame
    let collation: Collation?
    /// The first error; a document with an error does not pass.
    var error: StoreError?

    /// Calls a closure with a context for the tests of a program, `nil` if it needs none.
    ///
    /// Without a frame, `$$NOW` is the time of the match: that of the write for a validator.
    @inline(__always)
    static func lend<R, E: Error>(
        _ program: FilterProgram, _ frame: ExpressionFrame?,
        _ body: (UnsafeMutablePointer<FilterContext>?) throws(E) -> R
    ) throws(E) -> R {
        guard program.hasSpecialTests else { return try body(nil) }
        var context = FilterContext(
            documentTests: program.documentTests, valueTests: program.valueTests,
            frame: frame ?? ExpressionFrame(now: WallClock.now), collation: program.collation)
        return try withUnsafeMutablePointer(to: &context) { (context) throws(E) -> R in
            try body(context)
        }
    }
}

extension FilterMatcher {
    /// The first error of a special test.
    var error: StoreError? {
        @inline(__always) get { context.flatMap { $0.pointee.error } }
    }

    /// Whether the document passes the whole program.
    ///
    /// - Throws: the first error of a special test; the budget's error once it is over.
    @inline(__always)
    func passes(_ document: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        let isFound = documentPasses(document, node: 0)
        // A result that the end of the budget cut short is discarded here.
        try WorkBudget.spend()
        guard let context else { return isFound }
        if let error = context.pointee.error { throw error }
        return isFound
    }

    /// Whether the document passes a test of the whole; the context records errors.
    func passesDocumentTest(_ test: Int32, _ document: UnsafeRawBufferPointer) -> Bool {
        guard let context, context.pointee.error == nil else { return false }
        do throws(StoreError) {
            return try context.pointee.documentTests[Int(test)].passes(
                BSONDocument(unchecked: Array(document)), context.pointee.frame,
                collation: context.pointee.collation)
        } catch {
            context.pointee.error = error
            return false
        }
    }

    /// Whether a value passes a special test.
    func passesValueTest(_ test: Int32, _ value: BSONRawValue) -> Bool {
        context?.pointee.valueTests[Int(test)].passes(value) ?? false
    }

    /// Whether a missing value passes a special test.
    func passesValueTestOnMissing(_ test: Int32) -> Bool {
        context?.pointee.valueTests[Int(test)].passesMissing ?? false
    }
}
