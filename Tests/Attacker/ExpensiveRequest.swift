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

    private static func document(_ text: String) throws -> BSONDocument {
        do { return try BSONDocument(extendedJSON: text) } catch {
            throw ProgramFailure(reason: "\(error) in \(text.prefix(2_000))")
        }
    }

    /// How parts become a command.
    private enum Form: CaseIterable {
        case stages, stages2, facet, union, projected, nested, filtered, counted, pipelineUpdate
        case filter, sorted, distinct, findAndModify, merged, command
    }

    private static func text(_ random: inout SimulationRandom) -> (String, String) {
        let form = Form.allCases.randomElement(using: &random) ?? .stages
        let collection =
            ["items", "large", "words", "nodes"].randomElement(using: &random) ?? "items"
        func stages() -> (String, String) { ExpensivePart.pick(ExpensivePart.stages, &random) }
        func expression() -> (String, String) {
            ExpensivePart.pick(ExpensivePart.expressions, &random)
        }
        func filter() -> (String, String) { ExpensivePart.pick(ExpensivePart.filters, &random) }
        let (first, second) = (stages(), stages())
        let (value, other) = (expression(), expression())
        let condition = filter()
        let named: (name: String, text: String) =
            switch form {
            case .stages: (first.0, aggregate("items", first.1))
            case .stages2:
                (first.0 + ", " + second.0, aggregate(collection, first.1 + "," + second.1))
            case .facet:
                (
                    first.0 + " beside " + second.0,
                    aggregate(
                        collection, "{\"$facet\": {\"a\": [\(first.1)], \"b\": [\(second.1)]}}")
                )
            case .union:
                (
                    first.0 + " united with " + second.0,
                    aggregate(
                        collection,
                        "\(first.1), {\"$unionWith\": {\"coll\": \"items\", \"pipeline\": [\(second.1)]}}"
                    )
                )
            case .projected:
                (value.0, aggregate(collection, "{\"$project\": {\"x\": \(value.1)}}"))
            case .nested:
                (
                    value.0 + " within " + other.0,
                    aggregate(
                        collection,
                        """
                        {"$project": {"x": {"$let": {"vars": {"v": \(value.1)},
                            "in": {"$cond": [{"$eq": ["$$v", 0]}, 1, \(other.1)]}}}}}
                        """)
                )
            case .filtered:
                (
                    value.0,
                    "{\"find\": \"\(collection)\", \"filter\": {\"$expr\": {\"$eq\": [\(value.1), -1]}}}"
                )
            case .counted:
                (
                    value.0,
                    "{\"count\": \"\(collection)\", \"query\": {\"$expr\": {\"$lt\": [\(value.1), 0]}}}"
                )
            case .pipelineUpdate: (value.0, update("{}", "[{\"$set\": {\"x\": \(value.1)}}]"))
            case .filter:
                (condition.0, "{\"find\": \"\(collection)\", \"filter\": \(condition.1)}")
            case .sorted:
                (
                    condition.0 + " sorted",
                    """
                    {"find": "\(collection)", "filter": {"$nor": [\(condition.1)]},
                     "sort": {"t": -1, "n": 1}, "collation": {"locale": "de", "strength": 1}}
                    """
                )
            case .distinct:
                (
                    condition.0,
                    "{\"distinct\": \"\(collection)\", \"key\": \"t\", \"query\": \(condition.1)}"
                )
            case .findAndModify:
                (
                    condition.0,
                    """
                    {"findAndModify": "spoils", "query": \(condition.1), "sort": {"t": 1},
                     "update": [{"$set": {"x": \(value.1)}}], "upsert": true}
                    """
                )
            case .merged:
                (
                    first.0 + " merged",
                    aggregate(
                        collection,
                        "\(first.1), {\"$merge\": {\"into\": \"spoils\", \"whenMatched\": \"merge\"}}"
                    )
                )
            case .command: ExpensivePart.pick(ExpensivePart.commands, &random)
            }
        return ("\(form) of \(collection): \(named.name)", named.text)
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
