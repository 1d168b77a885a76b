import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a search in a language would find a word only in the form that it names, and
/// every document with a word like "and".
@Suite struct StemmedSearchTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let language: String
        let text: String
        /// A form of a word of the text that the text does not have.
        let form: String
        /// A word of the text without a meaning of its own.
        let stopWord: String

        var testDescription: String { language }
    }

    @Test(arguments: [
        Case(language: "da", text: "Børnene legede i haven", form: "børnenes", stopWord: "i"),
        Case(language: "nl", text: "De grote huizen van toen", form: "groot", stopWord: "van"),
        Case(language: "fi", text: "Talossa on kaksi kissaa", form: "talosta", stopWord: "on"),
        Case(language: "hu", text: "A házakban laknak", form: "házakat", stopWord: "a"),
        Case(language: "nb", text: "Husene ligger ved elven", form: "huset", stopWord: "ved"),
        Case(
            language: "romanian", text: "Casele sunt frumoase", form: "frumoasă",
            stopWord: "sunt"),
        Case(language: "russian", text: "В шкафу стоят книги", form: "книгами", stopWord: "в"),
        Case(
            language: "sv", text: "Flickorna sprang över ängen", form: "flickor",
            stopWord: "över"),
        Case(language: "tr", text: "IŞIKLAR ve evler", form: "ışıktan", stopWord: "VE"),
    ])
    func `a search finds other forms of a word, and ignores stop words`(_ example: Case) throws {
        let things = try DocumentStore(at: .inMemory).collection(Namespace("app", "things"))
        try things.createIndex(["t": "text"])
        let document: BSONDocument = [
            "_id": 1, "language": .string(example.language), "t": .string(example.text),
        ]
        try things.insertOne(document)
        func search(_ text: String, in language: String) throws -> [BSONDocument] {
            try things.find([
                "$text": ["$search": .string(text), "$language": .string(language)]
            ]).fetch()
        }
        #expect(try search(example.form, in: example.language) == [document])
        #expect(try search(example.form, in: "none") == [])
        #expect(try search(example.stopWord, in: example.language) == [])
        #expect(try search("\"\(example.text)\"", in: example.language) == [document])
    }

    @Test func `Turkish texts have both letters i in lower case`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Namespace("app", "things"))
        try things.createIndex(["t": "text"], ["default_language": "turkish"])
        try things.insertOne(["_id": 1, "t": "SIRLI İSTANBUL"])
        try things.insertOne(["_id": 2, "t": "sirli i\u{307}stanbul"])
        func search(_ text: String) throws -> [BSONValue?] {
            try things.find(["$text": ["$search": .string(text)]]).fetch().map { $0["_id"] }
        }
        #expect(try search("sırlı") == [1])
        #expect(try search("SİRLİ") == [2])
        #expect(try search("istanbul") == [1, 2])
        #expect(try search("SI\u{307}RLI\u{307}") == [2])
        #expect(try search("\"sırlı istanbul\"") == [1])
        #expect(try search("\"sirli istanbul\"") == [2])
    }
}
