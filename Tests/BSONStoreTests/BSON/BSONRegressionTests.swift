import BSONStore
import Foundation
import Testing

/// Without these, bytes that the fuzzer found trouble with could make it again.
struct BSONRegressionTests {
    private static let files: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../fixtures/bson/regressions").standardizedFileURL
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "bson" }.sorted { $0.path < $1.path }
    }()

    @Test func `There are regressions to look at`() { #expect(!Self.files.isEmpty) }

    @Test(arguments: files)
    func `What was found once is read, written and printed`(_ file: URL) throws {
        let bytes = Array(try Data(contentsOf: file))
        let document: BSONDocument
        do throws(BSONError) {
            document = try BSONDocument(validating: bytes)
        } catch {
            #expect(error.byteOffset != nil)
            return
        }
        let again = BSONDocument(document.map { ($0.key, $0.value) })
        #expect(BSONDocument(again.map { ($0.key, $0.value) }) == again)
        #expect(try BSONDocument(validating: again.bytes) == again)
        for format in ExtendedJSONFormat.allCases {
            let text = document.extendedJSON(format)
            let read = try BSONDocument(extendedJSON: text)
            #expect(try BSONDocument(extendedJSON: read.extendedJSON(format)) == read)
        }
    }
}
