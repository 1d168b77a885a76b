import BSONStore
import TestProcesses
import Testing

@testable import StitchServer

/// A command that is missing in one of the places that decide about it is allowed where it must not
/// be, or sent where it does not belong.
@Suite struct CommandTableTests {
    /// Arguments with which each command gets past the reading of its arguments; for a command that
    /// is not here, the collection `items` is enough.
    private static let arguments: [String: BSONDocument] = [
        "aggregate": ["aggregate": "items", "pipeline": [], "cursor": [:]],
        "bulkWrite": [
            "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]],
            "ops": [["insert": 0, "document": ["_id": 1]]],
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
        "stitchsyncTombstones": ["stitchsyncTombstones": "items", "ids": [1]],
        "update": ["update": "items", "updates": [["q": ["n": 1], "u": ["$set": ["n": 2]]]]],
        "updateUser": ["updateUser": "ida", "pwd": "pw"],
    ]
    /// The commands whose first field is not a collection.
    private static let targets: [String: BSONValue] = [
        "dropDatabase": 1, "dropAllUsersFromDatabase": 1, "endSessions": [], "killSessions": [],
        "killAllSessions": [], "refreshSessions": [], "listCollections": 1, "listDatabases": 1,
        "startSession": 1, "profile": -1, "getLog": "*", "fsync": 1, "usersInfo": "ida",
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
            page += "\(definition.name)\n"
            page += "  needs \(try Self.privileges(definition).joined(separator: " "))\n"
            page += "  gateway \(Self.gateway(definition))\n"
            page += "  under rules \(try Self.underRules(definition))\n"
            page += "  statements \(definition.statements?.field ?? "-")\n"
            page += "  opens a cursor \(definition.cursor == .opens)\n"
            page += "  reads \(try Self.reads(definition))\n"
            let rank = WorkRank(command: definition.name, ofOperator: false)
            page += "  rank \(rank)\n"
        }
        let difference = try GoldenPage.difference(of: page, from: "server/commands.txt")
        #expect(difference == nil, "\(difference ?? "")")
    }

    /// The rights that a command needs on a collection, on the users, and on no collection.
    private static func privileges(_ definition: CommandDefinition) throws -> [String] {
        let name = definition.name
        var probes = probes(definition)
        probes += [
            CommandProbe([name: "system.users"], on: "admin"), CommandProbe([name: 1], on: "shop"),
        ]
        return try probes.map { probe in
            let call = try probe.call(definition)
            let needs = Authorization.needs(definition, call, definition.parse(call, nil))
            return needs.map { "\($0.access)@\($0.database)" }.joined(separator: "+")
        }
    }

    private static func gateway(_ definition: CommandDefinition) -> String {
        switch definition.gateway {
        case .here: "here"
        case .commit: "commit"
        case .abort: "abort"
        case .endsSessions: "sessionEnds"
        case .users: "users"
        case .upstream, .upstreamOrStream, .deletions: "upstream"
        }
    }

    private static func underRules(_ definition: CommandDefinition) throws -> String {
        if definition.traits.contains(.unauthenticated) { return "open to strangers" }
        let call = try probes(definition)[0].call(definition)
        do {
            try RestrictedUse.check(definition, call)
            return "allowed"
        } catch {
            return "refused \(error.code)"
        }
    }

    private static func reads(_ definition: CommandDefinition) throws -> String {
        let needs = try probes(definition).map { probe in
            let call = try probe.call(definition)
            var needs = CommandNeeds()
            switch definition.underRules {
            case .refused, .harmless: break
            case .reads(let subject), .writes(let subject):
                needs = try CommandNeeds(subject, of: call)
            }
            let all = needs.needs.values.sorted { $0.namespace < $1.namespace }
            return all.map { need in
                let limits = need.queries.map { "\($0.limit)" }.joined(separator: ",")
                return "\(need.namespace)[\(limits)]\(need.ids.count)"
            }.joined(separator: "+")
        }
        return needs.map { $0.isEmpty ? "-" : $0 }.joined(separator: " ")
    }
}
