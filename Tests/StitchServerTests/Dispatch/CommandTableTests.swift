import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A command that is missing in one of the places that decide about it is allowed where it must not
/// be, or sent where it does not belong.
@Suite struct CommandTableTests {
    private static let reference: BSONValue = [
        "attachment": .objectID(BSONObjectID(bigEndianHigh: 1, low: 1)),
        "sha256": .binary(BSONBinary(Array(repeating: 2, count: 32))), "length": 1,
    ]
    /// Arguments with which each command gets past the reading of its arguments; for a command that
    /// is not here, the collection `items` is enough.
    private static let arguments: [String: BSONDocument] = [
        "aggregate": ["aggregate": "items", "pipeline": [], "cursor": [:]],
        "bulkWrite": [
            "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]],
            "ops": [["insert": 0, "document": ["_id": 1]]],
        ],
        "cloneCollectionAsCapped": [
            "cloneCollectionAsCapped": "items", "toCollection": "capped", "size": 4_096,
        ],
        "convertToCapped": ["convertToCapped": "items", "size": 4_096],
        "createIndexes": [
            "createIndexes": "items", "indexes": [["key": ["n": 1], "name": "n_1"]],
        ],
        "createUser": ["createUser": "ida", "pwd": "pw", "roles": []],
        "dataSize": ["dataSize": "shop.items"],
        "delete": ["delete": "items", "deletes": [["q": ["n": 1], "limit": 1]]],
        "distinct": ["distinct": "items", "key": "n"],
        "dropIndexes": ["dropIndexes": "items", "index": "*"],
        "explain": ["explain": ["find": "items"]],
        "findAndModify": ["findAndModify": "items", "query": ["n": 1], "remove": true],
        "getMore": ["getMore": .int64(7), "collection": "items"],
        "grantRolesToUser": ["grantRolesToUser": "ida", "roles": []],
        "insert": ["insert": "items", "documents": [["_id": 1]]],
        "killCursors": ["killCursors": "items", "cursors": [.int64(7)]],
        "mapReduce": [
            "mapReduce": "items", "map": "function() {}", "reduce": "function() {}",
            "out": ["inline": 1],
        ],
        "renameCollection": ["renameCollection": "shop.items", "to": "shop.others"],
        "revokeRolesFromUser": ["revokeRolesFromUser": "ida", "roles": []],
        "stitchsyncAttachmentState": [
            "stitchsyncAttachmentState": "items", "document": 1, "attachment": reference,
        ],
        "stitchsyncGetAttachment": [
            "stitchsyncGetAttachment": "items", "document": 1, "attachment": reference,
            "offset": 0, "count": 1,
        ],
        "stitchsyncPutAttachment": [
            "stitchsyncPutAttachment": "items", "document": 1, "attachment": reference,
            "offset": 0, "data": .binary(BSONBinary([1])),
        ],
        "stitchsyncCollectAttachments": ["stitchsyncCollectAttachments": 1],
        "stitchsyncChangePassword": [
            "stitchsyncChangePassword": 1, "old": "pw", "pwd": "long enough",
        ],
        "stitchsyncDeleteAccount": ["stitchsyncDeleteAccount": 1, "pwd": "pw"],
        "stitchsyncMakePasswordToken": ["stitchsyncMakePasswordToken": "ida"],
        "stitchsyncEndSession": ["stitchsyncEndSession": 7],
        "stitchsyncSessions": ["stitchsyncSessions": 1],
        "stitchsyncRegister": ["stitchsyncRegister": "ida", "pwd": "long enough"],
        "stitchsyncRequestPasswordToken": ["stitchsyncRequestPasswordToken": "ida"],
        "stitchsyncSetPassword": [
            "stitchsyncSetPassword": "ida", "token": "x", "pwd": "long enough",
        ],
        "stitchsyncSignOutEverywhere": ["stitchsyncSignOutEverywhere": 1],
        "stitchsyncReportBacklog": ["stitchsyncReportBacklog": 1, "pending": 1],
        "stitchsyncShareConflict": ["stitchsyncShareConflict": "items", "conflicts": []],
        "stitchsyncTombstones": ["stitchsyncTombstones": "items", "ids": [1]],
        "update": ["update": "items", "updates": [["q": ["n": 1], "u": ["$set": ["n": 2]]]]],
        "updateUser": ["updateUser": "ida", "pwd": "pw"],
    ]
    /// The commands whose first field is not a collection.
    private static let targets: [String: BSONValue] = [
        "dropDatabase": 1, "dropAllUsersFromDatabase": 1, "endSessions": [], "killSessions": [],
        "killAllSessions": [], "refreshSessions": [], "listCollections": 1, "listDatabases": 1,
        "startSession": 1, "profile": -1, "getLog": "*", "fsync": 1, "usersInfo": "ida",
        "rolesInfo": 1,
    ]
    /// Further forms of commands, of which another part of the arguments decides.
    private static let forms: [BSONDocument] = [
        ["aggregate": "items", "pipeline": [["$merge": "others"]], "cursor": [:]],
        ["aggregate": "items", "pipeline": [["$out": "others"]], "cursor": [:]],
        [
            "aggregate": "items", "pipeline": [["$match": ["n": 1]], ["$count": "n"]],
            "cursor": [:],
        ],
        ["aggregate": "items", "pipeline": [["$collStats": ["count": [:]]]], "cursor": [:]],
        [
            "aggregate": "items", "cursor": [:],
            "pipeline": [["$lookup": ["from": "others", "as": "x", "pipeline": []]]],
        ],
        ["count": "items", "hint": "_id_"],
        ["explain": ["aggregate": "items", "pipeline": [], "cursor": [:]]],
        ["explain": ["findandmodify": "items", "query": ["n": 1], "remove": true]],
        ["explain": ["update": "items", "updates": [["q": [:], "u": ["$set": ["n": 2]]]]]],
        ["explain": ["dropDatabase": 1]], ["explain": ["unknown": 1]],
        ["find": "items", "filter": ["$where": "true"]], ["find": "items", "min": ["_id": 1]],
        ["find": "items", "sort": ["n": 1], "limit": 1], ["find": "items", "showRecordId": true],
        ["insert": "items", "documents": [["_id": 1, "$where": "true"]]],
        ["mapReduce": "items", "map": "function() {}", "reduce": "function() {}", "out": "others"],
        ["killSessions": [["id": .binary(BSONBinary(Array(1...16), subtype: 4))]]],
        ["usersInfo": 1], ["usersInfo": ["forAllDBs": true]],
        ["create": "items", "viewOn": "system.users", "pipeline": []],
        ["unknown": "items"],
    ]

    private static func probes(_ definition: CommandDefinition) -> [CommandProbe] {
        let name = definition.name
        let plain = arguments[name] ?? [name: targets[name] ?? "items"]
        let isOfAdmin = definition.traits.contains(.adminOnly)
        let others = forms.filter { CommandTable.find($0.keys.first ?? "")?.name == name }
        return ([plain] + others).map { CommandProbe($0, on: isOfAdmin ? "admin" : "shop") }
    }

    @Test("Each command has the answers and the place that are kept for it")
    func answers() throws {
        var page = ""
        let unknown = CommandProbe(["unknown": "items"], on: "shop")
        for probe in CommandTable.all.flatMap(Self.probes) + [unknown] {
            let file = try CommandProbe.Caller.allCases.map {
                "\($0) \(try probe.fileAnswer(to: $0))"
            }
            page += "\(probe.command.extendedJSON(.relaxed)) on \(probe.database)\n"
            page += "  file: \(file.joined(separator: ", "))\n"
            for caller in CommandProbe.Caller.allCases where caller != .stranger {
                let (code, sent) = try probe.gatewayAnswer(to: caller)
                page += "  gateway: \((["\(caller)", code] + sent).joined(separator: " "))\n"
            }
        }
        let difference = try GoldenPage.difference(of: page, from: "server/command-answers.txt")
        #expect(difference == nil, "\(difference ?? "")")
    }

    @Test("Each command is what is kept of it: its privileges, its handling, its use under rules")
    func table() throws {
        var page = ""
        for definition in CommandTable.all {
            page += "\(([definition.name] + definition.signature.aliases).joined(separator: " "))\n"
            page += "  \(Self.traits.filter { definition.traits.contains($0.0) }.map(\.1))\n"
            page += "  needs \(try Self.privileges(definition).joined(separator: " "))\n"
            page += "  gateway \(Self.text(definition.gateway))\n"
            page += "  under rules \(Self.text(definition.underRules))\n"
            page += "  statements \(definition.statements.map(Self.text) ?? "none")\n"
            page += "  cursor \(definition.cursor)\n"
            page += "  documents \(try Self.reads(definition))\n"
        }
        let difference = try GoldenPage.difference(of: page, from: "server/commands.txt")
        #expect(difference == nil, "\(difference ?? "")")
    }

    private static let traits: [(CommandSignature.Traits, String)] = [
        (.adminOnly, "adminOnly"), (.unauthenticated, "unauthenticated"),
        (.inTransaction, "inTransaction"), (.writes, "writes"), (.retryable, "retryable"),
        (.stable, "stable"), (.takesWriteConcern, "takesWriteConcern"),
        (.takesReadConcern, "takesReadConcern"), (.testOnly, "testOnly"),
        (.whileStopping, "whileStopping"), (.endsTransaction, "endsTransaction"),
        (.signsIn, "signsIn"), (.writesResults, "writesResults"),
        (.takesSnapshot, "takesSnapshot"), (.checksReadPreference, "checksReadPreference"),
        (.createsFirstUser, "createsFirstUser"), (.vital, "vital"),
        (.outsideRules, "outsideRules"), (.readsServerCollection, "readsServerCollection"),
    ]

    /// A case with the names of its values, without those of their types.
    private static func text(_ value: some Sendable) -> String {
        "\(value)".replacing(/StitchServer\.(\w+\.)*/, with: "")
    }

    /// The rights that a command needs in each of its forms, for the users, and for no collection.
    private static func privileges(_ definition: CommandDefinition) throws -> [String] {
        let name = definition.name
        let probes =
            probes(definition) + [
                CommandProbe([name: "system.users"], on: "admin"),
                CommandProbe([name: 1], on: "shop"),
            ]
        return try probes.map { probe in
            let call = try probe.call(definition)
            let needs = Authorization.needs(definition, call, definition.parse(call, nil))
            let texts = needs.map { "\($0.access)@\($0.database)" }
            return texts.isEmpty ? "none" : texts.joined(separator: "+")
        }
    }

    /// The collections that a command reads upstream in each of its forms.
    private static func reads(_ definition: CommandDefinition) throws -> String {
        let all = try probes(definition).map { probe -> String in
            switch definition.underRules {
            case .refused, .harmless: return "none"
            case .reads, .writes, .attachments:
                let named = try probe.call(definition).namedCollections.map(\.description)
                return named.isEmpty ? "none" : named.joined(separator: " + ")
            }
        }
        return all.joined(separator: ", ")
    }

    @Test("A user under rules gets nothing from a refused command, wherever it runs")
    func refused() throws {
        for definition in CommandTable.all where definition.underRules == .refused {
            for probe in Self.probes(definition) {
                #expect(try probe.fileAnswer(to: .ben) == "13", "\(probe.command)")
                let (code, sent) = try probe.gatewayAnswer(to: .ben)
                #expect(code == "13" && sent.isEmpty, "\(probe.command): \(code) \(sent)")
            }
        }
    }

    @Test("A command that the table does not have is refused, and is not sent upstream")
    func unknown() throws {
        for caller in CommandProbe.Caller.allCases {
            for command: BSONDocument in [["unknown": "items"], ["Find": "items"], ["": 1]] {
                let probe = CommandProbe(command, on: "shop")
                #expect(try probe.fileAnswer(to: caller) == "59")
                let (code, sent) = try probe.gatewayAnswer(to: caller)
                #expect(code == "59" && sent.isEmpty, "\(command): \(code) \(sent)")
            }
        }
    }

    @Test("Each row agrees with itself")
    func laws() {
        for definition in CommandTable.all {
            let (name, traits) = (Comment(rawValue: definition.name), definition.traits)
            if case .server = definition.answering { #expect(definition.gateway == .here, name) }
            switch definition.underRules {
            case .refused: #expect(!traits.contains(.unauthenticated), name)
            case .harmless: #expect(!Self.isUpstream(definition), name)
            case .reads:
                #expect(Self.isUpstream(definition) && !traits.contains(.writes), name)
                #expect(definition.statements == nil, name)
            case .attachments: #expect(definition.gateway == .attachments, name)
            case .writes:
                #expect(Self.isUpstream(definition) && traits.contains(.writes), name)
            }
            // A retryable write changes only what its statements, or its collection, name.
            #expect(traits.contains(.retryable) == Self.isJudged(definition), name)
            if let statements = definition.statements {
                #expect(definition.signature.schema.fields?[statements.field] == .array, name)
                #expect(definition.signature.schema.required.contains(statements.field), name)
            }
        }
    }

    private static func isJudged(_ definition: CommandDefinition) -> Bool {
        if case .writes = definition.underRules { true } else { false }
    }

    private static func isUpstream(_ definition: CommandDefinition) -> Bool {
        switch definition.gateway {
        case .deletions, .attachments, .upstream, .upstreamOrStream: true
        case .here, .endsSessions, .commit, .abort, .users, .deletesAccount,
            .conflicts:
            false
        }
    }

    @Test("A command that opens a cursor replies with one, and no other command does")
    func cursors() throws {
        for definition in CommandTable.all {
            let probe = Self.probes(definition)[0]
            let server = try OfflineServer(CommandProbe.settings())
            server.become(CommandProbe.Caller.root.user)
            _ = server.answer(command: ["create": "items", "$db": "shop"])
            let reply = server.answer(command: probe.body)
            // The results of mixed statements are all in the first batch.
            let isExpected = definition.cursor == .opens || definition.statements == .mixed
            #expect(
                (reply?["cursor"]?.documentValue?["id"] != nil) == isExpected,
                "\(definition.name): \(reply ?? [:])")
        }
    }

    @Test("The documentation lists each command, and no other")
    func documentation() throws {
        let page = try String(
            contentsOf: Python.folder.appending(path: "Docs/SERVER.md"), encoding: .utf8)
        let section = page.split(separator: "\n## ").first { $0.hasPrefix("Commands\n") } ?? ""
        let table = section.split(separator: "\n\n").first { $0.hasPrefix("|") } ?? ""
        let rows = table.split(separator: "\n")
        let listed = rows.flatMap { row in row.matches(of: /`(\w+)`/).map { String($0.1) } }
        let known = CommandTable.all.filter { !$0.traits.contains(.testOnly) }.map(\.name)
        #expect(known.filter { !listed.contains($0) } == [])
        #expect(listed.filter { CommandTable.find($0) == nil } == [])
    }
}
