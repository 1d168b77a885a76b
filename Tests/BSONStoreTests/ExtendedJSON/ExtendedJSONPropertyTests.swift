import BSONStore
import LibBSON
import Testing

/// Without these, some document that no vector thought of would change on its way through text.
@Suite struct ExtendedJSONPropertyTests {
    @Test("canonical text reads back as the same bytes", arguments: 0..<20)
    func canonicalRoundTrip(block: Int) throws {
        for seed in block * 200..<(block + 1) * 200 {
            var random = RandomBSON(seed: UInt64(seed))
            let document = ExtendedJSONSamples.quiet(random.document(depth: 4))
            let text = document.extendedJSON()
            #expect(try BSONDocument(extendedJSON: text) == document, "seed \(seed): \(text)")
            let pretty = document.extendedJSON(pretty: true)
            #expect(try BSONDocument(extendedJSON: pretty) == document, "seed \(seed): \(pretty)")
            #expect(document.extendedJSONBytes() == Array(text.utf8), "seed \(seed)")
            #expect(
                try BSONDocument(extendedJSONBytes: Array(text.utf8)) == document, "seed \(seed)")
        }
    }

    @Test("relaxed text is stable once it has been read", arguments: 0..<20)
    func relaxedRoundTrip(block: Int) throws {
        for seed in block * 200..<(block + 1) * 200 {
            var random = RandomBSON(seed: UInt64(seed))
            let document = ExtendedJSONSamples.quiet(random.document(depth: 4))
            let text = document.extendedJSON(.relaxed)
            let read = try BSONDocument(extendedJSON: text)
            #expect(read.extendedJSON(.relaxed) == text, "seed \(seed)")
            #expect(read.keys == document.keys, "seed \(seed)")
        }
    }

    @Test("libbson reads our canonical text as the same bytes", arguments: 0..<20)
    func canonicalThroughReference(block: Int) throws {
        for seed in block * 100..<(block + 1) * 100 {
            var random = RandomBSON(seed: UInt64(seed))
            let document = ExtendedJSONSamples.forReference(random.document(depth: 3))
            let text = document.extendedJSON()
            let reference = LibBSONReference.document(extendedJSON: text)
            #expect(reference == document.bytes, "seed \(seed): \(text)")
        }
    }

    @Test("we read libbson's canonical text as the same bytes", arguments: 0..<20)
    func canonicalFromReference(block: Int) throws {
        for seed in block * 100..<(block + 1) * 100 {
            var random = RandomBSON(seed: UInt64(seed))
            let document = ExtendedJSONSamples.forReference(random.document(depth: 3))
            let text = try #require(LibBSONReference.extendedJSON(document.bytes, .canonical))
            #expect(try BSONDocument(extendedJSON: text) == document, "seed \(seed): \(text)")
        }
    }

    @Test("doubles read and write exactly as the standard library does", arguments: 0..<20)
    func doubles(block: Int) throws {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<2_000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let document: BSONDocument = ["a": .double(value)]
            #expect(try BSONDocument(extendedJSON: document.extendedJSON(.relaxed)) == document)
            #expect(try BSONDocument(extendedJSON: document.extendedJSON()) == document)
        }
    }

    @Test("decimal texts become the double that the standard library finds", arguments: 0..<20)
    func decimalTexts(block: Int) throws {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<2_000 {
            let digits = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let exponent = Int.random(in: -340...300, using: &generator)
            let text = "\(digits)\(Bool.random(using: &generator) ? ".5" : "")e\(exponent)"
            let expected = try #require(Double(text))
            guard expected.isFinite else { continue }
            let read = try BSONValue(extendedJSON: text)
            #expect(read == .double(expected), "\(text)")
        }
    }

    @Test("half way between two doubles the even one wins", arguments: 0..<10)
    func ties(block: Int) throws {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<1_000 {
            let whole = UInt64.random(in: 1 << 53...1 << 63, using: &generator)
            for text in ["\(whole).0", "\(whole)e0", "\(whole / 10).\(whole % 10)", "\(whole)e-3"] {
                let expected = try #require(Double(text))
                #expect(try BSONValue(extendedJSON: text) == .double(expected), "\(text)")
            }
        }
    }

    @Test("digits beyond the nineteenth count where they decide", arguments: 0..<10)
    func manyDigits(block: Int) throws {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<500 {
            let kept = UInt64.random(in: 1 << 52..<1 << 53, using: &generator)
            // The middle between two neighbours, exactly: a whole number with 22 to 30 digits.
            var middle = UInt128(kept) * 2 + 1
            middle <<= UInt128.random(in: 20...42, using: &generator)
            let zeros = String(repeating: "0", count: Int.random(in: 0...30, using: &generator))
            for number in [middle - 1, middle, middle + 1] {
                for text in ["\(number)", "0.\(zeros)\(number)", "\(number).\(zeros)1e-20"] {
                    let expected = try #require(Double(text))
                    #expect(
                        try BSONValue(extendedJSON: "{\"$numberDouble\":\"\(text)\"}")
                            == .double(expected), "\(text)")
                }
            }
        }
    }

    @Test(
        "options of a regular expression come in order, wherever they stand",
        arguments: ["", "i", "xsmi", "\u{E9}i\u{E8}", "\u{1F600}z\u{FF}a"])
    func expressionOptions(options: String) throws {
        let sorted = String(String.UnicodeScalarView(options.unicodeScalars.sorted()))
        for pattern in ["", "^a.*\u{E9}$"] {
            let members = ["\"pattern\":\"\(pattern)\"", "\"options\":\"\(options)\""]
            for members in [members, members.reversed()] {
                let text = "{\"$regularExpression\":{\(members.joined(separator: ","))}}"
                let value = try BSONValue(extendedJSON: text)
                guard case .regularExpression(let expression) = value else {
                    Issue.record("\(text) gives \(value)")
                    continue
                }
                #expect(expression.pattern == pattern)
                #expect(Array(expression.options.utf8) == Array(sorted.utf8))
            }
        }
    }

    @Test("any cut of a text is an error, never a trap", arguments: 0..<10)
    func cuts(seed: Int) {
        var random = RandomBSON(seed: UInt64(seed))
        let bytes = random.document(depth: 3).extendedJSONBytes()
        for count in 0..<bytes.count {
            #expect(throws: BSONError.self) {
                try BSONDocument(extendedJSONBytes: Array(bytes[..<count]))
            }
        }
    }

    @Test("any changed byte gives a valid document or an error", arguments: 0..<20)
    func changes(seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        let bytes = random.document(depth: 3).extendedJSONBytes(.relaxed)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = random.pick([0, 0x22, 0x24, 0x2C, 0x5C, 0x7B, 0x7D, 0xC3, 0xFF])
            do throws(BSONError) {
                let read = try BSONDocument(extendedJSONBytes: changed)
                _ = try BSONDocument(validating: read.bytes)
            } catch {
                #expect(error.line != nil && error.column != nil, "\(error)")
            }
        }
    }
}

/// Makes random documents fit for a round trip through text.
enum ExtendedJSONSamples {
    /// Takes away what canonical text cannot tell: the bits of NaNs and of odd decimal numbers.
    static func quiet(_ document: BSONDocument) -> BSONDocument {
        map(document) { value in
            switch value {
            case .double(let number) where number.isNaN: .double(.nan)
            case .decimal128(let number) where number.kind != .finite:
                .decimal128(number.kind == .nan ? .nan : number.isNegative ? -.infinity : .infinity)
            default: value
            }
        }
    }

    /// Takes away what libbson 1.23 writes or reads wrongly.
    static func forReference(_ document: BSONDocument) -> BSONDocument {
        map(quiet(document)) { value in
            switch value {
            // It ends a text at its first NUL.
            case .string(let text): .string(text.replacing("\0", with: "_"))
            // It garbles array keys before these and leaves code inside of a scope unread.
            case .dbPointer, .javascript, .javascriptWithScope: .null
            case .symbol(let text): .symbol(text.replacing("\0", with: "_"))
            default: value
            }
        }
    }

    private static func map(
        _ document: BSONDocument, _ change: (BSONValue) -> BSONValue
    ) -> BSONDocument {
        var result = BSONDocument()
        for (key, value) in document { result.append(key, map(value, change)) }
        return result
    }

    private static func map(_ value: BSONValue, _ change: (BSONValue) -> BSONValue) -> BSONValue {
        switch value {
        case .document(let nested): .document(map(nested, change))
        case .array(let array): .array(BSONArray(array.map { map($0, change) }))
        case .javascriptWithScope(let code):
            change(
                .javascriptWithScope(
                    BSONJavaScriptWithScope(code: code.code, scope: map(code.scope, change))))
        default: change(value)
        }
    }
}
