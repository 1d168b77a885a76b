import BSONStore
import SyncSimulation
import TestProcesses

/// A command that would take very long, or much memory, if nothing bounded it.
struct ExpensiveRequest {
    /// What it is made of.
    let name: String
    /// The command, with the time that it may take.
    let command: BSONDocument

    /// Draws a request that is combined of parts.
    static func draw(_ random: inout SimulationRandom) throws -> ExpensiveRequest {
        let limit = Int.random(in: 50...200, using: &random)
        let (name, text) = text(&random)
        var command = try document(text)
        command["maxTimeMS"] = .int32(Int32(limit))
        command["$db"] = .string(WireLedger.database)
        return ExpensiveRequest(name: name, command: command)
    }

    /// One that runs until it is ended.
    static func endless(_ random: inout SimulationRandom) throws -> ExpensiveRequest {
        let (name, stages) = ExpensivePart.pick(ExpensivePart.endless, &random)
        var command = try document(aggregate("items", stages))
        command["$db"] = .string(WireLedger.database)
        return ExpensiveRequest(name: name, command: command)
    }

    /// Reads every part once, so that an attempt with few seeds finds one that is not JSON.
    static func checkParts() throws {
        for part in ExpensivePart.endless + ExpensivePart.stages {
            _ = try document(aggregate("items", part.text))
        }
        for part in ExpensivePart.expressions {
            _ = try document(aggregate("items", "{\"$project\": {\"x\": \(part.text)}}"))
        }
        for part in ExpensivePart.filters + ExpensivePart.commands { _ = try document(part.text) }
    }

    private static func document(_ text: String) throws -> BSONDocument {
        do { return try BSONDocument(extendedJSON: text) } catch {
            throw ProgramFailure(reason: "\(error) in \(text.prefix(2_000))")
        }
    }

    /// How parts become a command.
    private enum Form: CaseIterable {
        case stages, stages2, facet, union, projected, nested, merged
        case filtered, counted, pipelineUpdate, filter, sorted, distinct, findAndModify, command
    }

    private static func text(_ random: inout SimulationRandom) -> (String, String) {
        let form = Form.allCases.randomElement(using: &random) ?? .stages
        let names = ["items", "large", "words", "nodes"]
        let collection = names.randomElement(using: &random) ?? "items"
        let parts = Parts(&random)
        let (name, text) =
            switch form {
            case .stages, .stages2, .facet, .union, .projected, .nested, .merged:
                pipeline(form, collection, parts)
            case .filtered, .counted, .pipelineUpdate, .filter, .sorted, .distinct,
                .findAndModify, .command:
                other(form, collection, parts)
            }
        return ("\(form) of \(collection): \(name)", text)
    }

    /// What a request may be made of.
    private struct Parts {
        let first, second, value, other, filter, command: ExpensivePart.Named

        init(_ random: inout SimulationRandom) {
            first = ExpensivePart.pick(ExpensivePart.stages, &random)
            second = ExpensivePart.pick(ExpensivePart.stages, &random)
            value = ExpensivePart.pick(ExpensivePart.expressions, &random)
            other = ExpensivePart.pick(ExpensivePart.expressions, &random)
            filter = ExpensivePart.pick(ExpensivePart.filters, &random)
            command = ExpensivePart.pick(ExpensivePart.commands, &random)
        }
    }

    private static func pipeline(
        _ form: Form, _ collection: String, _ parts: Parts
    ) -> ExpensivePart.Named {
        let (first, second, value) = (parts.first.text, parts.second.text, parts.value.text)
        let both = parts.first.name + ", " + parts.second.name
        let (name, stages) =
            switch form {
            case .stages2: (both, first + ", " + second)
            case .facet: (both, "{\"$facet\": {\"a\": [\(first)], \"b\": [\(second)]}}")
            case .union:
                (
                    both,
                    "\(first), {\"$unionWith\": {\"coll\": \"items\", \"pipeline\": [\(second)]}}"
                )
            case .projected: (parts.value.name, "{\"$project\": {\"x\": \(value)}}")
            case .nested:
                (
                    parts.value.name + " within " + parts.other.name,
                    """
                    {"$project": {"x": {"$let": {"vars": {"v": \(value)},
                        "in": {"$cond": [{"$eq": ["$$v", 0]}, 1, \(parts.other.text)]}}}}}
                    """
                )
            case .merged:
                (parts.first.name, first + ", {\"$merge\": {\"into\": \"spoils\"}}")
            case .stages, .filtered, .counted, .pipelineUpdate, .filter, .sorted, .distinct,
                .findAndModify, .command:
                (parts.first.name, first)
            }
        return (name, aggregate(collection, stages))
    }

    private static func other(
        _ form: Form, _ collection: String, _ parts: Parts
    ) -> ExpensivePart.Named {
        let (value, filter) = (parts.value.text, parts.filter.text)
        let compared = "{\"$expr\": {\"$eq\": [\(value), -1]}}"
        return switch form {
        case .filtered:
            (parts.value.name, "{\"find\": \"\(collection)\", \"filter\": \(compared)}")
        case .counted:
            (parts.value.name, "{\"count\": \"\(collection)\", \"query\": \(compared)}")
        case .pipelineUpdate:
            (parts.value.name, update("{}", "[{\"$set\": {\"x\": \(value)}}]"))
        case .filter:
            (parts.filter.name, "{\"find\": \"\(collection)\", \"filter\": \(filter)}")
        case .sorted:
            (
                parts.filter.name,
                """
                {"find": "\(collection)", "filter": {"$nor": [\(filter)]},
                 "sort": {"t": -1, "n": 1}, "collation": {"locale": "de", "strength": 1}}
                """
            )
        case .distinct:
            (
                parts.filter.name,
                "{\"distinct\": \"\(collection)\", \"key\": \"t\", \"query\": \(filter)}"
            )
        case .findAndModify:
            (
                parts.filter.name + " and " + parts.value.name,
                """
                {"findAndModify": "spoils", "query": \(filter), "sort": {"t": 1},
                 "update": [{"$set": {"x": \(value)}}], "upsert": true}
                """
            )
        case .stages, .stages2, .facet, .union, .projected, .nested, .merged, .command:
            parts.command
        }
    }

    private static func aggregate(_ collection: String, _ stages: String) -> String {
        "{\"aggregate\": \"\(collection)\", \"pipeline\": [\(stages)], \"cursor\": {}}"
    }

    private static func update(_ filter: String, _ change: String) -> String {
        """
        {"update": "spoils", "updates": [{"q": \(filter), "u": \(change), "multi": true}]}
        """
    }
}
