import BSONStore
import Foundation
import Testing

/// Without these, another driver could write bytes or text that we read as something else.
@Suite struct CorpusTests {
    @Test(
        "every case of the specification's corpus holds",
        .enabled(
            if: !CorpusFolder.files(in: CorpusFolder.specification).isEmpty,
            "The BSON corpus is not here: set BSON_CORPUS_DIR to its folder."),
        arguments: CorpusFolder.files(in: CorpusFolder.specification))
    func specification(name: String) throws {
        let file = CorpusFolder.specification.appending(path: name)
        try CorpusCheck(CorpusFile(contentsOf: file)).run()
    }

    @Test("every vector of our own holds", arguments: CorpusFolder.files(in: CorpusFolder.own))
    func own(name: String) throws {
        let file = CorpusFolder.own.appending(path: name)
        try CorpusCheck(CorpusFile(contentsOf: file)).run()
    }

    @Test("our own vectors are there")
    func ownVectorsExist() {
        #expect(CorpusFolder.files(in: CorpusFolder.own).count >= 6)
    }
}

/// Checks one file as the specification's "Testing" section says.
struct CorpusCheck {
    let file: CorpusFile

    init(_ file: CorpusFile) { self.file = file }

    func run() throws {
        for valid in file.valid ?? [] {
            do {
                try check(valid)
            } catch {
                Issue.record("\(valid.description): \(error)")
            }
        }
        for vector in file.decodeErrors ?? [] {
            #expect(throws: BSONError.self, "\(vector.description): \(vector.bson)") {
                try BSONDocument(validating: try Hex.bytes(vector.bson))
            }
        }
        for vector in file.parseErrors ?? [] { checkRefused(vector) }
    }

    private func check(_ valid: CorpusFile.Valid) throws {
        let name = Comment(rawValue: valid.description)
        let canonical = try document(valid.canonicalBSON)
        #expect(rebuilt(canonical) == canonical, name)
        if let bytes = valid.degenerateBSON {
            let degenerate = try document(bytes)
            #expect(rebuilt(degenerate) == canonical, name)
        }
        if let text = valid.canonicalJSON { try checkCanonical(text, canonical, valid) }
        if let text = valid.relaxedJSON {
            let written = canonical.extendedJSON(.relaxed)
            #expect(JSONText.normal(written) == JSONText.normal(text), name)
            let read = try BSONDocument(extendedJSON: text)
            #expect(JSONText.normal(read.extendedJSON(.relaxed)) == JSONText.normal(text), name)
        }
        if let bytes = valid.convertedBSON, let text = valid.convertedJSON {
            let converted = try document(bytes)
            #expect(rebuilt(converted) == converted, name)
            #expect(JSONText.normal(converted.extendedJSON()) == JSONText.normal(text), name)
            #expect(try BSONDocument(extendedJSON: text) == converted, name)
            #expect(canonical.replacingDeprecatedTypes() == converted, name)
        }
    }

    private func checkCanonical(
        _ text: String, _ canonical: BSONDocument, _ valid: CorpusFile.Valid
    ) throws {
        let name = Comment(rawValue: valid.description)
        let isLossy = valid.lossy ?? false
        let normal = JSONText.normal(text)
        #expect(JSONText.normal(canonical.extendedJSON()) == normal, name)
        #expect(JSONText.normal(canonical.extendedJSON(pretty: true)) == normal, name)
        let read = try BSONDocument(extendedJSON: text)
        #expect(JSONText.normal(read.extendedJSON()) == normal, name)
        if !isLossy { #expect(read == canonical, name) }
        if let degenerate = valid.degenerateJSON {
            let read = try BSONDocument(extendedJSON: degenerate)
            #expect(JSONText.normal(read.extendedJSON()) == normal, name)
            if !isLossy { #expect(read == canonical, name) }
        }
        if let degenerate = valid.degenerateBSON {
            let read = rebuilt(try document(degenerate))
            #expect(JSONText.normal(read.extendedJSON()) == normal, name)
        }
    }

    private func checkRefused(_ vector: CorpusFile.ParseError) {
        let name = Comment(rawValue: "\(vector.description): \(vector.string)")
        if file.type == "0x13" {
            #expect(throws: BSONError.self, name) { try BSONDecimal128(vector.string) }
            let text = BSONValue.string(vector.string).extendedJSON()
            #expect(throws: BSONError.self, name) {
                try BSONDocument(extendedJSON: "{\"d\": {\"$numberDecimal\": \(text)}}")
            }
        } else {
            #expect(throws: BSONError.self, name) { try BSONDocument(extendedJSON: vector.string) }
        }
    }

    private func document(_ hex: String) throws -> BSONDocument {
        try BSONDocument(validating: try Hex.bytes(hex))
    }

    /// Decodes every value and encodes it again, so that nothing is right just for being copied.
    private func rebuilt(_ document: BSONDocument) -> BSONDocument {
        var copy = BSONDocument()
        for (key, value) in document { copy.append(key, rebuilt(value)) }
        return copy
    }

    private func rebuilt(_ value: BSONValue) -> BSONValue {
        switch value {
        case .document(let nested): .document(rebuilt(nested))
        case .array(let array): .array(BSONArray(array.map { rebuilt($0) }))
        case .javascriptWithScope(let code):
            .javascriptWithScope(
                BSONJavaScriptWithScope(code: code.code, scope: rebuilt(code.scope)))
        default: value
        }
    }
}
