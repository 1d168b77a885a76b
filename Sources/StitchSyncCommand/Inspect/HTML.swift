/// A fragment of HTML whose interpolated texts are escaped.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    let markup: String

    /// Creates a fragment from raw markup; only for markup that this program itself writes.
    init(markup: String) { self.markup = markup }

    /// Creates a fragment from a literal.
    init(stringLiteral markup: String) { self.markup = markup }

    /// Creates a fragment from an interpolated literal; interpolated texts are escaped.
    init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

    /// The builder of interpolated fragments.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { markup += literal }

        /// Adds an escaped text.
        mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text) }

        /// Adds a number.
        mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }

        /// Adds a fragment.
        mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

        /// Adds fragments one after another.
        mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { markup += piece.markup }
        }
    }

    /// Returns a text that is safe anywhere in a page, also in a quoted attribute.
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
                // Control characters and marks that change the text direction.
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                    escaped += "\\u{\(String(scalar.value, radix: 16))}"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
