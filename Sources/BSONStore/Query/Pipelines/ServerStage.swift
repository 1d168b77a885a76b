/// A first stage that a server adds to those of the store, with its own documents.
package struct ServerStage: Sendable {
    /// A function that checks the stage's argument.
    package typealias Check = @Sendable (BSONValue) throws(StoreError) -> Void
    /// A function that returns the stage's documents for its argument, in a pipeline on a
    /// collection.
    package typealias Documents =
        @Sendable (BSONValue, Namespace) throws(StoreError) -> [BSONDocument]

    /// Checks the argument before the place of any stage is examined, as MongoDB does.
    let check: Check
    let documents: Documents

    /// Creates a stage; one without a check reports what is wrong when it runs.
    package init(check: @escaping Check = { _ in }, documents: @escaping Documents) {
        self.check = check
        self.documents = documents
    }
}
