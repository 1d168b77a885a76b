extension ExtendedJSONParser {
    /// Reads an object that has exactly two members, in any order.
    ///
    /// `member` reads the value and receives the position of the key's name, 0 or 1.
    private mutating func readPair(
        _ wrapper: StaticString, _ first: StaticString, _ second: StaticString,
        _ member: (inout ExtendedJSONParser, Int) throws(BSONError) -> Void
    ) throws(BSONError) {
        guard skip(UInt8(ascii: "{")) else {
            throw fault(.invalidExtendedJSON, "\(wrapper) takes an object.")
        }
        var seen = (false, false)
        for _ in 0..<2 {
            skipSpace()
            let place = cursor
            let key = try readScratch(wrapper)
            if ExtendedJSONCharacters.equal(key, first), !seen.0 {
                seen.0 = true
            } else if ExtendedJSONCharacters.equal(key, second), !seen.1 {
                seen.1 = true
            } else {
                throw fault(
                    .invalidExtendedJSON, "\(wrapper) takes \(first) and \(second) once each.",
                    at: place)
            }
            let isFirst = ExtendedJSONCharacters.equal(key, first)
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw fault(.invalidJSON, "A colon is missing.") }
            skipSpace()
            try member(&self, isFirst ? 0 : 1)
            skipSpace()
            if seen == (true, true) { break }
            guard skip(UInt8(ascii: ",")) else {
                throw fault(.invalidExtendedJSON, "\(wrapper) takes \(first) and \(second).")
            }
        }
        try endObject()
    }

    mutating func readWrappedBinary(_ typeIndex: Int) throws(BSONError) {
        set(.binary, at: typeIndex)
        let header = out.count
        out.reserve(5)
        out.put(little: 0 as Int32)
        out.put(0 as UInt8)
        var subtype: UInt8 = 0
        try readPair("$binary", "base64", "subType") { (parser, position) throws(BSONError) in
            if position == 0 {
                try parser.readBase64()
            } else {
                subtype = try parser.readSubtype()
            }
        }
        finishBinary(header, subtype)
    }

    /// Fills in a binary's header; subtype 2 has a second length inside.
    ///
    /// Source: BSON specification 1.1, "Binary (Old)".
    private mutating func finishBinary(_ header: Int, _ subtype: UInt8) {
        let count = out.count - header - 5
        out.base[header + 4] = subtype
        guard subtype == 2 else { return out.patch(length: count, at: header) }
        out.reserve(4)
        let bytes = out.base + header + 5
        (bytes + 4).update(from: bytes, count: count)
        out.count += 4
        out.patch(length: count, at: header + 5)
        out.patch(length: count + 4, at: header)
    }

    /// Reads base64 with padding and stores the bytes where the text was.
    private mutating func readBase64() throws(BSONError) {
        let place = cursor
        let text = try readScratch("base64")
        guard text.count % 4 == 0 else {
            throw fault(.invalidExtendedJSON, "base64 comes in groups of four.", at: place)
        }
        guard let last = text.last else { return }
        let second = text[text.count - 2]
        let padding =
            last != UInt8(ascii: "=") ? 0 : second != UInt8(ascii: "=") ? 1 : 2
        var group: UInt32 = 0
        for index in 0..<text.count - padding {
            guard let digit = ExtendedJSONCharacters.base64Value(text[index]) else {
                throw fault(.invalidExtendedJSON, "This is not base64.", at: place)
            }
            group = group << 6 | UInt32(digit)
            guard index & 3 == 3 else { continue }
            out.put(UInt8(truncatingIfNeeded: group >> 16))
            out.put(UInt8(truncatingIfNeeded: group >> 8))
            out.put(UInt8(truncatingIfNeeded: group))
            group = 0
        }
        if padding == 0 { return }
        guard group & (padding == 1 ? 0b11 : 0b1111) == 0 else {
            throw fault(.invalidExtendedJSON, "base64 ends in bits that mean nothing.", at: place)
        }
        if padding == 1 { out.put(UInt8(truncatingIfNeeded: group >> 10)) }
        out.put(UInt8(truncatingIfNeeded: group >> (padding == 1 ? 2 : 4)))
    }

    private mutating func readSubtype() throws(BSONError) -> UInt8 {
        let place = cursor
        let text = try readScratch("subType")
        var subtype: UInt8 = 0
        for byte in text {
            guard text.count <= 2, let digit = ExtendedJSONCharacters.hexValue(byte) else {
                throw fault(.invalidExtendedJSON, "subType takes two hex digits.", at: place)
            }
            subtype = subtype << 4 | digit
        }
        guard !text.isEmpty else {
            throw fault(.invalidExtendedJSON, "subType takes two hex digits.", at: place)
        }
        return subtype
    }

    /// Reads code and its scope, if one follows.
    mutating func readWrappedCode(_ typeIndex: Int) throws(BSONError) {
        let from = out.count
        try expectString("$code")
        try readString()
        skipSpace()
        guard skip(UInt8(ascii: ",")) else { return set(.javascript, at: typeIndex) }
        skipSpace()
        let place = cursor
        guard ExtendedJSONCharacters.equal(try readScratch("$code"), "$scope") else {
            throw fault(.invalidExtendedJSON, "$code takes $scope and nothing else.", at: place)
        }
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw fault(.invalidJSON, "A colon is missing.") }
        skipSpace()
        // Code with scope has its total length before the code.
        out.reserve(4)
        (out.base + from + 4).update(from: out.base + from, count: out.count - from)
        out.count += 4
        let scope = cursor
        try readValue(typeIndex: typeIndex)
        guard out.base[typeIndex] == BSONType.document.rawValue else {
            throw fault(.invalidExtendedJSON, "$scope takes a document.", at: scope)
        }
        out.patch(length: out.count - from, at: from)
        set(.javascriptWithScope, at: typeIndex)
    }

    mutating func readWrappedTimestamp(_ typeIndex: Int) throws(BSONError) {
        set(.timestamp, at: typeIndex)
        var seconds: UInt32 = 0
        var increment: UInt32 = 0
        try readPair("$timestamp", "t", "i") { (parser, position) throws(BSONError) in
            guard let number = ExtendedJSONNumber(parser.cursor, end: parser.end),
                case .integer(let wide) = number.value, let value = UInt32(exactly: wide)
            else {
                throw parser.fault(.invalidExtendedJSON, "t and i take whole numbers of 32 bits.")
            }
            parser.cursor += number.count
            if position == 0 { seconds = value } else { increment = value }
        }
        out.reserve(8)
        out.put(little: increment)
        out.put(little: seconds)
    }

    mutating func readWrappedDBPointer(_ typeIndex: Int) throws(BSONError) {
        set(.dbPointer, at: typeIndex)
        var idFirst: [UInt8] = []
        var sawReference = false
        try readPair("$dbPointer", "$ref", "$id") { (parser, position) throws(BSONError) in
            if position == 0 {
                sawReference = true
                try parser.expectString("$ref")
                return try parser.readString()
            }
            let from = parser.out.count
            try parser.readNestedObjectID()
            if sawReference { return }
            idFirst = parser.out.array(from..<from + 12)
            parser.out.count = from
        }
        out.reserve(12)
        for byte in idFirst { out.put(byte) }
    }

    /// Reads `{"$oid": …}` and stores the 12 bytes.
    private mutating func readNestedObjectID() throws(BSONError) {
        let place = cursor
        let typeIndex = out.count
        out.reserve(1)
        out.put(0 as UInt8)
        try readValue(typeIndex: typeIndex)
        guard out.base[typeIndex] == BSONType.objectID.rawValue else {
            throw fault(.invalidExtendedJSON, "$id takes an $oid.", at: place)
        }
        (out.base + typeIndex).update(from: out.base + typeIndex + 1, count: 12)
        out.count -= 1
    }

    mutating func readWrappedRegularExpression(_ typeIndex: Int) throws(BSONError) {
        set(.regularExpression, at: typeIndex)
        let start = out.count
        var patternCount = 0
        var isPatternLast = false
        try readPair("$regularExpression", "pattern", "options") {
            (parser, part) throws(BSONError) in
            try parser.expectString(part == 0 ? "pattern" : "options")
            let from = parser.out.count
            try parser.readCString()
            if part == 0 { patternCount = parser.out.count - from }
            isPatternLast = part == 0
        }
        let optionsCount = out.count - start - patternCount
        var texts = UnsafeMutableBufferPointer(start: out.base + start, count: out.count - start)
        if isPatternLast {
            // The options were written first: three reversals exchange the two texts.
            texts.reverse()
            texts[..<patternCount].reverse()
            texts[patternCount...].reverse()
        }
        sortOptions(at: start + patternCount, count: optionsCount - 1)
    }

    /// Sorts a regular expression's options alphabetically (BSON specification 1.1).
    private mutating func sortOptions(at start: Int, count: Int) {
        guard count > 1 else { return }
        let options = UnsafeMutableBufferPointer(start: out.base + start, count: count)
        if UTF8Validator.isASCII(UnsafeRawBufferPointer(options)) {
            // Insertion sort: there are a handful of letters, and the library's sort allocates.
            for end in 1..<count {
                var at = end
                while at > 0, options[at] < options[at - 1] {
                    options.swapAt(at, at - 1)
                    at -= 1
                }
            }
            return
        }
        let sorted = BSONRegularExpression.inOrder(String(decoding: options, as: UTF8.self))
        _ = options.update(fromContentsOf: sorted.utf8)
    }

    /// Reads a date: canonical, or the text of RFC 3339.
    mutating func readWrappedDate(_ typeIndex: Int) throws(BSONError) {
        let place = cursor
        let value: Int64
        if cursor < end, cursor.pointee == UInt8(ascii: "\"") {
            guard let date = ExtendedJSONDate.milliseconds(try readScratch("$date")) else {
                throw fault(.invalidExtendedJSON, "$date takes a date as RFC 3339.", at: place)
            }
            value = date
        } else {
            value = try readDateNumber(typeIndex)
        }
        set(.datetime, at: typeIndex)
        out.reserve(8)
        out.put(little: value)
    }

    private mutating func readDateNumber(_ typeIndex: Int) throws(BSONError) -> Int64 {
        let place = cursor
        let from = out.count
        guard cursor < end, cursor.pointee == UInt8(ascii: "{") else {
            throw fault(.invalidExtendedJSON, "$date takes a string or a $numberLong.", at: place)
        }
        try readValue(typeIndex: typeIndex)
        guard out.base[typeIndex] == BSONType.int64.rawValue else {
            throw fault(.invalidExtendedJSON, "$date takes a string or a $numberLong.", at: place)
        }
        out.count = from
        return Int64(
            littleEndian: UnsafeRawPointer(out.base + from).loadUnaligned(as: Int64.self))
    }
}
