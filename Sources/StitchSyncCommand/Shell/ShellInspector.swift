#if CommandLine
    import BSONScript
    import BSONStore
    import Foundation

    /// The text of values as MongoDB's shell shows them.
    ///
    /// The layout is that of Node's `util.inspect` with lines of 80 characters.
    struct ShellInspector {
        /// The depth below which objects are not shown.
        private let depthMax: Int
        /// The number of elements of an array that are shown.
        private let elementsMax: Int
        private var indentation = 0
        /// The depth of the object that was shown last.
        private var lastDepth = 0

        private static let lineMax = 80
        /// The number of levels that share a line.
        private static let compactLevels = 3
        /// The characters of names without quotes.
        private static let nameBytes = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789".utf8)

        /// Creates an inspector.
        ///
        /// - Parameter isFull: whether everything is shown, as for the results of a query.
        init(isFull: Bool = false) {
            depthMax = isFull ? 200 : 6
            elementsMax = isFull ? .max : 100
        }

        /// Returns the text of a value.
        static func text(_ value: BSONValue, isFull: Bool = false) -> String {
            var inspector = ShellInspector(isFull: isFull)
            return inspector.text(value, depth: 0)
        }

        private mutating func text(_ value: BSONValue, depth: Int) -> String {
            switch value {
            case .string(let text): return string(text)
            case .document(let document):
                let pairs = document.map { ($0.key, $0.value) }
                return container(pairs, isList: false, depth: depth)
            case .array(let list):
                return container(list.map { ("", $0) }, isList: true, depth: depth)
            default: return Self.literal(value)
            }
        }

        /// Returns a string with quotes, in parts by line if it is long.
        private func string(_ text: String) -> String {
            guard text.utf8.count > 16, text.utf8.count > Self.lineMax - indentation - 4,
                text.dropLast().contains("\n")
            else { return Self.quoted(text) }
            let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
            let lines = parts.enumerated().compactMap { index, part in
                index < parts.count - 1
                    ? String(part) + "\n" : part.isEmpty ? nil : String(part)
            }
            let space = String(repeating: " ", count: indentation + 2)
            return lines.map(Self.quoted).joined(separator: " +\n\(space)")
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

        private mutating func container(
            _ pairs: [(String, BSONValue)], isList: Bool, depth: Int
        ) -> String {
            guard depth <= depthMax else { return isList ? "[Array]" : "[Object]" }
            guard !pairs.isEmpty else { return isList ? "[]" : "{}" }
            lastDepth = depth
            var parts: [String] = []
            indentation += 2
            for (name, value) in isList ? pairs.prefix(elementsMax) : pairs[...] {
                let text = self.text(value, depth: depth + 1)
                parts.append(isList ? text : "\(Self.key(name)): \(text)")
            }
            indentation -= 2
            if isList, pairs.count > parts.count {
                let rest = pairs.count - parts.count
                parts.append("... \(rest) more item\(rest == 1 ? "" : "s")")
            }
            return joined(parts, of: isList ? pairs.map(\.1) : nil, depth: depth)
        }

        /// Joins the parts of an object on one line if they fit, else by lines.
        private func joined(
            _ parts: [String], of elements: [BSONValue]?, depth: Int
        ) -> String {
            let (start, end) = elements == nil ? ("{", "}") : ("[", "]")
            var output = parts
            if let elements, parts.count > 6 { output = grouped(parts, of: elements) }
            if lastDepth - depth < Self.compactLevels, output.count == parts.count {
                let room = output.count + indentation + start.count + 10
                let length = output.reduce(output.count + room) { $0 + $1.count }
                if length <= Self.lineMax, !output.contains(where: { $0.contains("\n") }) {
                    return "\(start) \(output.joined(separator: ", ")) \(end)"
                }
            }
            let line = "\n" + String(repeating: " ", count: indentation)
            return "\(start)\(line)  \(output.joined(separator: ",\(line)  "))\(line)\(end)"
        }

        /// Arranges the elements of a long array in columns, if they are short.
        private func grouped(_ parts: [String], of elements: [BSONValue]) -> [String] {
            let count = min(parts.count, elements.count, elementsMax)
            let lengths = parts.prefix(count).map(\.count)
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
                (Self.lineMax - indentation) / width, Self.compactLevels * 4, 15)
            guard columns > 1 else { return parts }
            let widths = (0..<columns).map { column in
                (stride(from: column, to: count, by: columns).map { lengths[$0] }.max() ?? 0) + 2
            }
            let areNumbers = elements.allSatisfy { value in
                switch value {
                case .double, .int32: true
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
                    let room = widths[index - row] - (isLast ? 2 : 0) - part.count
                    let space = String(repeating: " ", count: max(0, room))
                    text += areNumbers ? space + part : isLast ? part : part + space
                }
                rows.append(text)
            }
            return rows + parts.dropFirst(count)
        }

        /// Returns a value of BSON as the call that makes it.
        private static func literal(_ value: BSONValue) -> String {
            switch value {
            case .double(let number):
                return number == 0 && number.sign == .minus ? "-0" : ScriptValue.number(number).text
            case .binary(let binary) where binary.subtype == 4 && binary.bytes.count == 16:
                return "UUID('\(uuid(binary.bytes))')"
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
            case .javascript: return "[Function]"
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
