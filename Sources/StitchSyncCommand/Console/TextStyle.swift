import Foundation

/// The coloring of words on a terminal that supports it.
struct TextStyle: Sendable {
    /// A text attribute, by its ANSI code.
    enum Attribute: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case cyan = 36
    }

    /// The condition for colors.
    enum Choice: String, CaseIterable {
        /// On a terminal, unless `NO_COLOR` is set (https://no-color.org).
        case auto
        case always
        case never
    }

    /// Whether words are colored.
    let isColoured: Bool

    /// Decides by the option and the output.
    init(
        _ choice: Choice, on descriptor: Descriptor,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        switch choice {
        case .always: isColoured = true
        case .never: isColoured = false
        case .auto:
            isColoured =
                descriptor.isTerminal && environment["NO_COLOR"] ?? "" == ""
                && environment["TERM"] != "dumb"
        }
    }

    /// Returns a word with an attribute.
    func callAsFunction(_ text: String, _ attribute: Attribute) -> String {
        isColoured ? "\u{1B}[\(attribute.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// The text with control characters as escapes, so that none reaches a terminal.
    var printable: String {
        guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return self
        }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.properties.generalCategory == .control {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
