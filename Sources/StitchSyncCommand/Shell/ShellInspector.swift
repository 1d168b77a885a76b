#if CommandLine
    import BSONScript
    import BSONStore
    import Foundation

    /// The text of values as MongoDB's shell shows them.
    ///
    /// The layout is that of Node's `util.inspect` with lines of 80 characters.
    struct ShellInspector {
        /// The limits of what is shown.
        struct Limits {
            /// The depth below which objects are not shown.
            var depthMax = 6
            /// The number of elements of an array that are shown.
            var elementsMax = 100
            /// The number of characters of a text in an object that are shown.
            var charactersMax = 10_000
            /// The number of levels that share a line.
            var compactLevels = 3
            /// Whether values are colored, as on a terminal.
            var isColoured = false
        }

        private let limits: Limits
        private var indentation = 0
        /// The depth of the object that was shown last.
        private var lastDepth = 0
        /// The objects around the one that is shown.
        private var outer: [ScriptObject] = []
        /// The objects that contain themselves.
        private var circular: [ScriptObject] = []

        private static let lineMax = 80
        /// The characters of names without quotes.
        private static let nameBytes = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789".utf8)

        init(_ limits: Limits = Limits()) { self.limits = limits }

        /// Returns the text of a value.
        static func text(_ value: ScriptValue, _ limits: Limits = Limits()) -> String {
            var inspector = ShellInspector(limits)
            return inspector.text(value, depth: 0)
        }

        private mutating func text(_ value: ScriptValue, depth: Int) -> String {
            if let object = value.object {
                if outer.contains(where: { $0 === object }) {
                    if !circular.contains(where: { $0 === object }) { circular.append(object) }
                    let index = circular.firstIndex { $0 === object } ?? 0
                    return "[Circular *\(index + 1)]"
                }
                outer.append(object)
            }
            defer { if value.object != nil { outer.removeLast() } }
            let text = shapeText(ScriptShape(value), depth: depth)
            guard let object = value.object,
                let index = circular.firstIndex(where: { $0 === object })
            else { return text }
            return "<ref *\(index + 1)> \(text)"
        }

        private mutating func shapeText(_ shape: ScriptShape, depth: Int) -> String {
            switch shape {
            case .leaf(.string(let text)): return string(text)
            case .leaf(let value): return coloured(value)
            case .bigInt(let digits): return coloured(digits + "n", .number)
            case .made(.int32(let number)): return coloured("Int32(\(number))", .number)
            case .made(.double(let number)):
                return coloured("Double(\(ScriptValue.number(number).text))", .number)
            case .made(.javascriptWithScope(let value)):
                let scope = self.text(
                    ScriptValue(.document(value.scope), keepsNumberTypes: true), depth: depth + 1)
                return "Code(\(Self.quoted(value.code)), \(scope))"
            case .made(let value): return coloured(value)
            case .list(let elements): return list(elements, depth: depth)
            case .object(let name, let properties):
                if let reference = reference(properties, depth: depth) { return reference }
                return container(properties, name: name, depth: depth)
            case .map(let entries): return map(entries, depth: depth)
            case .set(let values): return set(values, depth: depth)
            case .function(let text), .accessor(let text): return coloured(text, .special)
            case .pattern(let text): return coloured(text, .pattern)
            case .error(let text, let properties): return error(text, properties, depth: depth)
            case .invalidDate: return "Invalid Date"
            case .promise(let value):
                guard let value else { return "Promise { <pending> }" }
                return "Promise { \(self.text(value, depth: depth + 1)) }"
            case .host(let host): return host.text
            }
        }

        /// Returns the text of a reference to a document, if the properties are one.
        private mutating func reference(
            _ properties: [(name: String, value: ScriptValue)], depth: Int
        ) -> String? {
            guard 2...3 ~= properties.count, properties[0].name.hasSameBytes(as: "$ref"),
                properties[1].name.hasSameBytes(as: "$id"),
                properties.count == 2 || properties[2].name.hasSameBytes(as: "$db")
            else { return nil }
            let parts = properties.map { text($0.value, depth: depth + 1) }
            return "DBRef(\(parts.joined(separator: ", ")))"
        }

        private mutating func error(
            _ text: String, _ properties: [(name: String, value: ScriptValue)], depth: Int
        ) -> String {
            guard depth > 0 else { return text }
            return "[\(text)]"
        }

        /// Returns a string with quotes, in parts by line if it is long.
        private func string(_ text: String) -> String {
            guard text.count <= limits.charactersMax else {
                let rest = text.count - limits.charactersMax
                return string(String(text.prefix(limits.charactersMax)))
                    + "... \(rest) more character\(rest == 1 ? "" : "s")"
            }
            guard text.utf8.count > 16, text.utf8.count > Self.lineMax - indentation - 4,
                text.dropLast().contains("\n")
            else { return coloured(Self.quoted(text), .string) }
            let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
            let lines = parts.enumerated().compactMap { index, part in
                index < parts.count - 1
                    ? String(part) + "\n" : part.isEmpty ? nil : String(part)
            }
            let space = String(repeating: " ", count: indentation + 2)
            return lines.map { coloured(Self.quoted($0), .string) }
                .joined(separator: " +\n\(space)")
        }

        /// Returns a string in quotes that it does not contain, if possible.
        static func quoted(_ text: String) -> String {
            let quote: Unicode.Scalar =
                !text.contains("'")
                ? "'"
                : !text.contains("\"")
                    ? "\"" : !text.contains("`") && !text.contains("${") ? "`" : "'"
            var result = String(quote)
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\n": result += "\\n"
                case "\r": result += "\\r"
                case "\t": result += "\\t"
                case "\u{8}": result += "\\b"
                case "\u{c}": result += "\\f"
                case "\\": result += "\\\\"
                case quote: result += "\\\(quote)"
                case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}":
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    result += "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
                default: result.unicodeScalars.append(scalar)
                }
            }
            return result + String(quote)
        }

        private static func key(_ name: String) -> String {
            let isPlain =
                !name.isEmpty && name.utf8.allSatisfy(nameBytes.contains)
                && !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= (name.utf8.first ?? 0))
            return isPlain ? name : quoted(name)
        }

        private mutating func list(_ elements: [ScriptValue], depth: Int) -> String {
            guard depth <= limits.depthMax else { return "[Array]" }
            guard !elements.isEmpty else { return "[]" }
            lastDepth = depth
            var parts = parts(elements.prefix(limits.elementsMax), depth: depth)
            if elements.count > parts.count {
                let rest = elements.count - parts.count
                parts.append("... \(rest) more item\(rest == 1 ? "" : "s")")
            }
            return joined(parts, in: ("[", "]"), of: elements, depth: depth)
        }

        private mutating func parts(
            _ elements: some Collection<ScriptValue>, depth: Int
        ) -> [String] {
            indentation += 2
            defer { indentation -= 2 }
            var parts: [String] = []
            for element in elements { parts.append(text(element, depth: depth + 1)) }
            return parts
        }

        private mutating func set(_ values: [ScriptValue], depth: Int) -> String {
            guard depth <= limits.depthMax else { return "[Set]" }
            guard !values.isEmpty else { return "Set(0) {}" }
            lastDepth = depth
            let parts = parts(values, depth: depth)
            return joined(parts, in: ("Set(\(values.count)) {", "}"), of: nil, depth: depth)
        }

        private mutating func map(
            _ entries: [(key: ScriptValue, value: ScriptValue)], depth: Int
        ) -> String {
            guard depth <= limits.depthMax else { return "[Map]" }
            guard !entries.isEmpty else { return "Map(0) {}" }
            lastDepth = depth
            let keys = parts(entries.map(\.key), depth: depth)
            let values = parts(entries.map(\.value), depth: depth)
            let parts = zip(keys, values).map { "\($0) => \($1)" }
            return joined(parts, in: ("Map(\(entries.count)) {", "}"), of: nil, depth: depth)
        }

        private mutating func container(
            _ properties: [(name: String, value: ScriptValue)], name: String?, depth: Int
        ) -> String {
            let start = name.map { "\($0) {" } ?? "{"
            guard depth <= limits.depthMax else { return "[\(name ?? "Object")]" }
            guard !properties.isEmpty else { return start + "}" }
            lastDepth = depth
            var parts: [String] = []
            indentation += 2
            for (name, value) in properties {
                parts.append("\(Self.key(name)): \(text(value, depth: depth + 1))")
            }
            indentation -= 2
            return joined(parts, in: (start, "}"), of: nil, depth: depth)
        }

        /// Joins the parts of an object on one line if they fit, else by lines.
        private func joined(
            _ parts: [String], in brackets: (start: String, end: String),
            of elements: [ScriptValue]?, depth: Int
        ) -> String {
            let (start, end) = brackets
            var output = parts
            if let elements, parts.count > 6 { output = grouped(parts, of: elements) }
            if lastDepth - depth < limits.compactLevels, output.count == parts.count {
                let room = output.count + indentation + start.count + 10
                let length = output.reduce(output.count + room) { $0 + width($1) }
                if length <= Self.lineMax, !output.contains(where: { $0.contains("\n") }) {
                    return "\(start) \(output.joined(separator: ", ")) \(end)"
                }
            }
            let line = "\n" + String(repeating: " ", count: indentation)
            return "\(start)\(line)  \(output.joined(separator: ",\(line)  "))\(line)\(end)"
        }

        /// Arranges the elements of a long array in columns, if they are short.
        private func grouped(_ parts: [String], of elements: [ScriptValue]) -> [String] {
            let count = min(parts.count, elements.count, limits.elementsMax)
            let lengths = parts.prefix(count).map(width)
            let total = lengths.reduce(0) { $0 + $1 + 2 }
            let longest = lengths.max() ?? 0
            let width = longest + 2
            guard width * 3 + indentation < Self.lineMax,
                Double(total) / Double(width) > 5 || longest <= 6,
                !parts.contains(where: { $0.contains("\n") })
            else { return parts }
            let bias = (Double(width) - Double(total) / Double(parts.count)).squareRoot()
            let biased = max(Double(width) - 3 - bias, 1)
            let columns = min(
                Int(((2.5 * biased * Double(count)).squareRoot() / biased).rounded()),
                (Self.lineMax - indentation) / width, limits.compactLevels * 4, 15)
            guard columns > 1 else { return parts }
            let widths = (0..<columns).map { column in
                (stride(from: column, to: count, by: columns).map { lengths[$0] }.max() ?? 0) + 2
            }
            let areNumbers = elements.allSatisfy { value in
                switch value {
                case .number, .bigInt: true
                default: false
                }
            }
            var rows: [String] = []
            for row in stride(from: 0, to: count, by: columns) {
                let end = min(row + columns, count)
                var text = ""
                for index in row..<end {
                    let isLast = index == end - 1
                    let part = isLast ? parts[index] : parts[index] + ", "
                    let room = widths[index - row] - (isLast ? 2 : 0) - self.width(part)
                    let space = String(repeating: " ", count: max(0, room))
                    text += areNumbers ? space + part : isLast ? part : part + space
                }
                rows.append(text)
            }
            return rows + parts.dropFirst(count)
        }

        // MARK: Colors

        /// The colors of Node, by the codes that begin and end them.
        private enum Colour {
            case string
            case number
            case absent
            case missing
            case special
            case date
            case pattern

            var codes: (start: Int, end: Int) {
                switch self {
                case .string: (32, 39)
                case .number: (33, 39)
                case .absent: (1, 22)
                case .missing: (90, 39)
                case .special: (36, 39)
                case .date: (35, 39)
                case .pattern: (31, 39)
                }
            }
        }

        private func coloured(_ text: String, _ colour: Colour) -> String {
            guard limits.isColoured else { return text }
            return "\u{1b}[\(colour.codes.start)m\(text)\u{1b}[\(colour.codes.end)m"
        }

        /// Returns a value of BSON as the call that makes it, in its color.
        private func coloured(_ value: BSONValue) -> String {
            let text = Self.literal(value)
            guard limits.isColoured else { return text }
            switch value {
            case .double, .int32, .int64, .decimal128, .bool: return coloured(text, .number)
            case .null: return coloured(text, .absent)
            case .undefined: return coloured(text, .missing)
            case .datetime: return coloured(text, .date)
            case .regularExpression: return coloured(text, .pattern)
            default:
                // The text in a call such as `ObjectId('…')`.
                guard let start = text.firstIndex(of: "'"), let end = text.lastIndex(of: "'"),
                    start < end
                else { return text }
                return text[..<start] + coloured(String(text[start...end]), .string)
                    + text[text.index(after: end)...]
            }
        }

        /// Returns the number of characters that a text shows, without those of colors.
        private func width(_ text: String) -> Int {
            guard limits.isColoured else { return text.count }
            var (count, isCode) = (0, false)
            for character in text {
                if isCode {
                    isCode = character != "m"
                } else if character == "\u{1b}" {
                    isCode = true
                } else {
                    count += 1
                }
            }
            return count
        }

        /// Returns a value of BSON as the call that makes it.
        private static func literal(_ value: BSONValue) -> String {
            switch value {
            case .double(let number):
                return number == 0 && number.sign == .minus ? "-0" : ScriptValue.number(number).text
            case .binary(let binary) where binary.subtype == 4 && binary.bytes.count == 16:
                return "UUID('\(uuid(binary.bytes))')"
            case .binary(let binary) where binary.subtype == 5:
                let digits = binary.bytes.map {
                    ($0 < 16 ? "0" : "") + String($0, radix: 16)
                }
                return "MD5('\(digits.joined())')"
            case .binary(let binary):
                let base64 = Data(binary.bytes).base64EncodedString()
                return "Binary.createFromBase64('\(base64)', \(binary.subtype))"
            case .undefined: return "undefined"
            case .objectID(let id): return "ObjectId('\(id.hex)')"
            case .bool(let value): return value ? "true" : "false"
            case .datetime(let date): return "ISODate('\(iso(date))')"
            case .null: return "null"
            case .regularExpression(let expression):
                return "/\(expression.pattern)/\(expression.options)"
            case .javascript(let code): return "Code(\(quoted(code)))"
            case .symbol(let text): return "BSONSymbol(\(quoted(text)))"
            case .int32(let number): return String(number)
            case .timestamp(let time):
                return "Timestamp({ t: \(time.seconds), i: \(time.increment) })"
            case .int64(let number): return "Long('\(number)')"
            case .decimal128(let decimal): return "Decimal128('\(decimal)')"
            case .minKey: return "MinKey()"
            case .maxKey: return "MaxKey()"
            default: return value.extendedJSON(.relaxed)
            }
        }

        private static func uuid(_ bytes: [UInt8]) -> String {
            var text = ""
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) { text += "-" }
                text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return text
        }

        /// Returns a time as ISO 8601 with milliseconds.
        private static func iso(_ date: BSONDatetime) -> String {
            let date = Date(timeIntervalSince1970: Double(date.milliseconds) / 1_000)
            return date.formatted(
                .iso8601.year().month().day().time(includingFractionalSeconds: true))
                + "Z"
        }
    }
#endif
