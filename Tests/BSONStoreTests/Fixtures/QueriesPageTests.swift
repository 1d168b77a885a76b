import Foundation
import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these the page would promise operators that nobody tested, or hide some that are there.
@Suite struct QueriesPageTests {
    /// A section with the operators that its parser knows and the fixtures that state them.
    struct Section: Sendable, CustomTestStringConvertible {
        let title: String
        let known: Set<String>
        let fixtures: String

        var testDescription: String { title }
    }

    static let sections = [
        Section(
            title: "Filters",
            known: Set(
                PredicateParser.TopLevelOperator.allCases.map(\.rawValue)
                    + PredicateParser.FieldOperator.allCases.map(\.rawValue)),
            fixtures: "queries"),
        Section(
            title: "Schemas", known: Set(JSONSchemaParser.Keyword.allCases.map(\.rawValue)),
            fixtures: "queries"),
        Section(
            title: "Updates", known: Set(UpdateParser.Operator.allCases.map(\.rawValue)),
            fixtures: "updates"),
        Section(
            title: "Stages", known: Set(StageDefinition.all.keys), fixtures: "aggregation"),
        Section(
            title: "Accumulators", known: Set(Accumulator.all.keys.filter { !$0.hasPrefix("$_") }),
            fixtures: "aggregation"),
        Section(
            title: "Expressions",
            known: Set(ExpressionOperator.all.keys.filter { !$0.hasPrefix("$_") }),
            fixtures: "aggregation"),
    ]

    @Test(arguments: sections)
    func `the page lists what the parser knows, and nothing else`(_ section: Section) throws {
        let page = try QueriesPage()
        let listed = page.known[section.title] ?? []
        #expect(section.known.subtracting(listed).sorted() == [])
        #expect(listed.subtracting(section.known).sorted() == [])
        let unknown = page.unknown[section.title] ?? []
        #expect(unknown.intersection(section.known).sorted() == [])
    }

    @Test(arguments: sections)
    func `every operator that the page promises stands in a fixture`(_ section: Section) throws {
        let page = try QueriesPage()
        let text = try FixtureFile.text(in: section.fixtures)
        let missing = (page.known[section.title] ?? []).filter { !text.contains("\"\($0)\"") }
        #expect(missing.sorted() == [])
    }
}
