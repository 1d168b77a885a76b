import TestProcesses
import Testing

/// Compares a text with a kept page; `GOLDEN_UPDATE=1` writes the page anew.
func expectGolden(
    _ page: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let difference = try GoldenPage.difference(of: text, from: page)
    #expect(difference == nil, "\(difference ?? "")", sourceLocation: sourceLocation)
}
