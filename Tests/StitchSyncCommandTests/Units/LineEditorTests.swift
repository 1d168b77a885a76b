import BSONStore
import Testing

@testable import StitchSyncCommand

/// Without these a key would change another part of the line, or a history keep a password.
@Suite struct LineEditorTests {
    @Test func `keys are read from bytes`() {
        let table: [(String, [TerminalKey])] = [
            ("aé", [.text("a"), .text("é")]),
            ("\u{1b}[A\u{1b}OB", [.up, .down]),
            ("\u{1b}[1;5C\u{1b}[3~", [.wordRight, .delete]),
            ("\u{1b}[200~\r\u{1b}[201~", [.pasteStart, .enter, .pasteEnd]),
            ("\u{03}\u{1b}b\t\u{7f}", [.control("c"), .meta("b"), .tab, .backspace]),
        ]
        for (text, keys) in table {
            var bytes = Array(text.utf8)[...]
            var read: [TerminalKey] = []
            while let key = TerminalKey.read({ bytes.popFirst() }) { read.append(key) }
            #expect(read == keys)
        }
    }

    @Test func `words are cut and pasted`() {
        var line = LineBuffer("db.items find")
        line.cut(to: line.wordStart)
        #expect(line.text == "db.items ")
        line.move(to: 0)
        line.paste()
        #expect(line.text == "finddb.items ")
        line.removeBehind()
        line.move(to: line.wordEnd)
        #expect(line.textBeforeCursor == "findb")
        line.exchange()
        #expect(line.text == "find.bitems ")
    }

    @Test func `statements with passwords are secret`() {
        for text in [
            "db.createUser({ user: 'a' })", "connect('mongodb://a:bc@h')", "passwordPrompt()",
            "db.auth('a', 'b')", "{ PWD: 1 }",
        ] {
            #expect(LineHistory.isSecret(text), "\(text)")
        }
        #expect(!LineHistory.isSecret("db.users.find({ name: 'a@b' })"))
    }

    #if CommandLine
        @Test func `names are completed by their place`() {
            let completion = ShellCompletion(
                databases: { ["shop", "school"] }, collections: { ["items", "item.parts"] },
                sample: { _ in [["name": "a", "size": ["width": 1]]] })
            let table: [(String, [String])] = [
                ("use sh", ["shop"]),
                ("show co", ["collections"]),
                ("db.ite", ["item.parts", "items"]),
                ("db.items.findOneAndD", ["items.findOneAndDelete"]),
                ("db.item.parts.dropIndexe", ["item.parts.dropIndexes"]),
                ("db.items.find({ a: f(1), si", ["size", "size.width"]),
                ("db.items.aggregate([{ $unw", ["$unwind"]),
                ("db.items.updateOne({}, { $setO", ["$setOnInsert"]),
                ("db.items.find().lim", ["limit"]),
                ("const a = printj", ["printjson"]),
            ]
            for (text, candidates) in table {
                #expect(completion(text).candidates == candidates, "\(text)")
            }
        }
    #endif
}
