/// A piece of a page, whose texts are escaped when it is put together.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    let markup: String

    /// Takes markup as it is; only for what this program itself writes.
    init(markup: String) { self.markup = markup }

    /// Takes markup from the program's own text.
    init(stringLiteral markup: String) { self.markup = markup }

    /// Takes markup from the program's own text, with texts of others escaped in it.
    init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

    /// Puts markup together.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { markup += literal }

        /// Adds a text of somebody else, escaped.
        mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text) }

        /// Adds a number.
        mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }

        /// Adds a piece of the page.
        mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

        /// Adds pieces of the page, one after another.
        mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { markup += piece.markup }
        }
    }

    /// A text as it can stand anywhere in a page, also in an attribute in quotes.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            default:
                // Control characters, and the marks that turn the direction of text around.
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                    escaped += "\\u{\(String(scalar.value, radix: 16))}"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
