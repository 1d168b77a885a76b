import BSONStore
import Testing

/// Without these the store and the server could print one error under two names.
@Suite struct ErrorNamesTests {
    @Test(
        arguments: [
            (11000, "DuplicateKey"), (85, "IndexOptionsConflict"), (112, "WriteConflict"),
            (301, "DataCorruptionDetected"), (40324, "Location40324"),
        ] as [(Int32, String)])
    func `a code prints as the server prints it`(number: Int32, name: String) {
        #expect(StoreError.Code(rawValue: number).description == name)
    }
}
