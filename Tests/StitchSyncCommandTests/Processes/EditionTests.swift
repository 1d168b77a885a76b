import BSONStore
import Foundation
import Testing

@testable import StitchSyncCommand

/// Without these `diff`, `retry`, `fixture record` and `inspect` would tell of a store what is not so.
struct EditionTests {
    private static let items = "shop.items"

    private func withStuckStore(
        _ body: (TemporaryFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await StuckStore.make(in: folder)
            try await body(folder)
        }
    }

    @Test func `diff shows a failed conflict field by field, and where the remote comes from`()
        async throws
    {
        try await withStuckStore { folder in
            let answer = try await Tool.run(
                "diff", "phone.stitch", Self.items, "unsure", in: folder)
            #expect(answer.code == 0)
            #expect(answer.output[0].hasPrefix("shop.items \"unsure\": paused (handlerFailed)"))
            #expect(answer.output[3].hasPrefix("remote  as of the conflict at "))
            #expect(
                Array(answer.output.dropFirst(5)) == [
                    "price", "  base    1", "  local   1", "  remote  2",
                    "note", #"  base    "<script>alert(1)</script>""#, #"  local   "mine""#,
                    #"  remote  "<script>alert(1)</script>""#,
                ])
            let coloured = try await Tool.run(
                "diff", "phone.stitch", Self.items, "unsure", "--color", "always", in: folder)
            #expect(coloured.output.contains("\u{1B}[36m  remote  2\u{1B}[0m"))
            #expect(coloured.output.contains("\u{1B}[32m  local   \"mine\"\u{1B}[0m"))
        }
    }

    @Test func `trace tells the story of a document, and what it waits for`() async throws {
        try await withStuckStore { folder in
            let unsure = try await Tool.run(
                "trace", "phone.stitch", Self.items, "unsure", in: folder)
            #expect(unsure.code == 0)
            #expect(unsure.output.first?.hasSuffix(" written here: insert") == true)
            #expect(unsure.output.contains { $0.contains(" paused, handlerFailed: ") })
            #expect(
                unsure.output.last?.hasSuffix(
                    #"stitchsync resume phone.stitch shop.items --ids '["unsure"]'"#) == true)
            let merged = try await Tool.run(
                "trace", "phone.stitch", Self.items, "merged", in: folder)
            #expect(merged.output.last == "now synced: waits for nothing")
            #expect(
                merged.output.contains(
                    #"    note: base "<script>alert(1)</script>", local "mine", "#
                        + #"remote "<script>alert(1)</script>", result "mine""#))
            let refused = try await Tool.run(
                "trace", "phone.stitch", Self.items, "refused", "--json", in: folder)
            let steps = try refused.output.map { try BSONDocument(extendedJSON: $0) }
            let texts = steps.compactMap { $0["text"]?.stringValue }
            #expect(texts.contains { $0.contains("a price is not negative") })
            #expect(texts.contains { $0.hasPrefix("reverted") })
            #expect(steps.last?["state"] == "synced")
            let other = try await Tool.run(
                "trace", "phone.stitch", Self.items, "other", in: folder)
            #expect(other.code == 1)
            #expect(other.complaints == ["Error: phone.stitch has no story of other in shop.items"])
        }
    }

    @Test func `a pipeline does not write to what is synced`() async throws {
        try await withStuckStore { folder in
            let match = #"{"$match": {"_id": "merged"}}, {"$unset": "note"}"#
            for last in [#"{"$out": "items"}"#, #"{"$merge": {"into": "items"}}"#] {
                let answer = try await Tool.run(
                    "aggregate", "phone.stitch", Self.items, "[\(match), \(last)]", in: folder)
                #expect(answer.code == 1)
                #expect(answer.complaints.first?.contains("has synced documents") == true)
            }
            let elsewhere = try await Tool.run(
                "aggregate", "phone.stitch", Self.items, #"[{"$out": "copies"}]"#, in: folder)
            #expect(elsewhere.code == 0)
            let left = try await Tool.run(
                "find", "phone.stitch", Self.items, #"{"_id": "merged"}"#, in: folder)
            #expect(left.output.joined().contains(#""note":"mine""#))
        }
    }

    @Test func `diff says what it does not know, and asks where it is told to`() async throws {
        try await withStuckStore { folder in
            let merged = try await Tool.run(
                "diff", "phone.stitch", Self.items, "merged", in: folder)
            #expect(merged.output.contains { $0.hasPrefix("remote  not asked") })
            #expect(merged.output.last == "no field differs")
            let asked = try await Tool.run(
                "diff", "phone.stitch", Self.items, "merged", "--remote", "remote.stitch", "--json",
                in: folder)
            let object = try BSONDocument(extendedJSON: asked.output.joined())
            #expect(object["remoteIs"] == "asked")
            #expect(object["remote"]?.documentValue?["price"] == 2)
            #expect(object["remote"]?.documentValue?["note"] == "mine")
            #expect(object["differences"] == .array([]))
            let nobody = try await Tool.run("diff", "phone.stitch", Self.items, "7", in: folder)
            #expect(nobody.code == 1)
            #expect(
                nobody.complaints == [
                    #"Error: shop.items in phone.stitch has no document 7 or "7""#
                ])
            let elsewhere = try await Tool.run("diff", "phone.stitch", "shop.item", "7", in: folder)
            #expect(
                elsewhere.complaints.first
                    == "note: phone.stitch has no collection shop.item; it has shop.items")
        }
    }

    @Test func `a rejected write is listed, made again as another one, or discarded`() async throws
    {
        try await withStuckStore { folder in
            let list = try await Tool.run("retry", "phone.stitch", in: folder)
            #expect(list.output[0].hasPrefix(#"1  update of shop.items "refused", refused at "#))
            #expect(list.output[1].contains("a price is not negative"))
            #expect(
                list.output.dropFirst(2) == ["   price", "     base    1", "     wanted  -1"],
                "\(list.output)")
            let none = try await Tool.run("retry", "phone.stitch", "7", in: folder)
            #expect(none.code == 1)
            #expect(none.complaints == ["error: phone.stitch keeps no rejected write 7"])
            let other = try await Tool.run(
                "retry", "phone.stitch", "1", "--as", #"{"_id": "other"}"#, in: folder)
            #expect(other.code == 1)
            #expect(other.complaints.first?.contains("_id") == true)
            let edited = try await Tool.run(
                "retry", "phone.stitch", "1", "--as", #"{"_id": "refused", "price": 5}"#, "--json",
                in: folder)
            #expect(edited.code == 0)
            #expect(
                try BSONDocument(extendedJSON: edited.output.joined())["outcome"] == "retried")
            let status = try await Tool.run("status", "phone.stitch", "--json", in: folder)
            let object = try BSONDocument(extendedJSON: status.output.joined())
            #expect(object["pending"] == 2)
            #expect(object["rejected"] == 0)
        }
        try await withStuckStore { folder in
            let gone = try await Tool.run(
                "retry", "phone.stitch", "--all", "--discard", in: folder)
            #expect(gone.output == [#"1: update of shop.items "refused" discarded"#])
            let list = try await Tool.run("retry", "phone.stitch", in: folder)
            #expect(list.output == ["no rejected writes"])
            let wrong = try await Tool.run("retry", "phone.stitch", "--discard", in: folder)
            #expect(wrong.code == 64)
        }
    }

    @Test(arguments: ["merged", "unsure"])
    func `a recorded conflict is a fixture that passes`(id: String) async throws {
        try await withStuckStore { folder in
            let made = try await Tool.run(
                "fixture", "record", "phone.stitch", Self.items, id, "--out", "it.json", in: folder)
            #expect(made.code == 0, "\(made.complaints)")
            let played = try await Tool.run("fixture", "run", "it.json", in: folder)
            #expect(played.output == ["1 passed, 0 failed"])
            let again = try await Tool.run(
                "fixture", "record", "phone.stitch", "--out", "it.json", in: folder)
            #expect(again.complaints == ["Error: it.json exists already; name another file"])
            let none = try await Tool.run(
                "fixture", "record", "phone.stitch", Self.items, "refused", in: folder)
            #expect(none.code == 1)
            #expect(none.complaints.first?.contains("shop.items \"unsure\"") == true)
        }
    }

    @Test func `the report has what is stuck, nothing from outside, and escapes what is in it`()
        async throws
    {
        try await withStuckStore { folder in
            let made = try await Tool.run(
                "inspect", "phone.stitch", "--out", "report.html", in: folder)
            #expect(made.output == ["phone.stitch: the report is in report.html"])
            let page = try String(contentsOfFile: folder.path("report.html"), encoding: .utf8)
            #expect(!page.contains("<script"))
            #expect(page.contains("&lt;script&gt;alert(1)"))
            for outside in ["http:", "https:", "src=", "url(", "@import", "href="] {
                #expect(!page.contains(outside), "\(outside)")
            }
            for wanted in [
                "<code>stitchsync resume phone.stitch ", "a price is not negative",
                "<svg class=\"timeline\"",
                "prefers-color-scheme: dark", "width=device-width", "Newest conflicts",
            ] { #expect(page.contains(wanted), "\(wanted)") }
            let json = try await Tool.run("inspect", "phone.stitch", "--json", in: folder)
            let object = try BSONDocument(extendedJSON: json.output.joined())
            #expect(object["conflicts"]?.arrayValue?.count == 2)
            #expect(object["findings"] == .array([]))
        }
    }
}
