import BSONStore
import Testing

/// Without these, foreign bytes could reach code that reads them unchecked.
struct BSONValidationTests {
    private func fault(_ bytes: [UInt8], limits: BSONLimits = BSONLimits()) -> BSONError? {
        do throws(BSONError) {
            _ = try BSONDocument(validating: bytes, limits: limits)
            return nil
        } catch { return error }
    }

    /// Wraps elements in a document with the right length.
    private func document(_ elements: [UInt8]) -> [UInt8] {
        let count = UInt32(elements.count + 5)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + elements + [0]
    }

    @Test func `An empty document is valid and nothing shorter is`() {
        #expect(fault([5, 0, 0, 0, 0]) == nil)
        for count in 0..<5 {
            #expect(fault(Array([5, 0, 0, 0, 0].prefix(count)))?.code == .truncated)
        }
    }

    @Test(arguments: [
        ([6, 0, 0, 0, 0], BSONError.Code.truncated, 0),
        ([4, 0, 0, 0, 0], .invalidLength, 0),
        ([5, 0, 0, 0, 0, 0], .invalidLength, 0),
        ([5, 0, 0, 0, 1], .invalidLength, 4),
        ([255, 255, 255, 255, 0], .invalidLength, 0),
        ([6, 0, 0, 0, 0, 0], .invalidLength, 4),
    ])
    func `A wrong outer length is refused`(
        _ bytes: [UInt8], _ code: BSONError.Code, _ offset: Int
    ) {
        #expect(fault(bytes)?.code == code)
        #expect(fault(bytes)?.byteOffset == offset)
    }

    @Test(
        arguments: [
            ([0x10, 97, 0, 1, 0, 0], BSONError.Code.truncated),
            ([0x14, 97, 0], .unknownType),
            ([0x80, 97, 0], .unknownType),
            ([0x08, 97, 0, 2], .invalidBool),
            ([0x08, 97, 0], .truncated),
            ([0x08, 97], .truncated),
            ([0x0A, 0xC3, 0], .invalidUTF8),
            ([0x02, 97, 0, 0, 0, 0, 0, 0], .invalidLength),
            ([0x02, 97, 0, 2, 0, 0, 0, 97, 97], .invalidLength),
            ([0x02, 97, 0, 3, 0, 0, 0, 97, 0], .truncated),
            ([0x02, 97, 0, 2, 0, 0, 0, 0xE9, 0], .invalidUTF8),
            ([0x0D, 97, 0, 2, 0, 0, 0, 0xE9, 0], .invalidUTF8),
            ([0x0E, 97, 0, 2, 0, 0, 0, 0xE9, 0], .invalidUTF8),
            ([0x0B, 97, 0, 0xE9, 0, 0], .invalidUTF8),
            ([0x0B, 97, 0, 97, 0, 0xE9, 0], .invalidUTF8),
            ([0x0C, 97, 0, 2, 0, 0, 0, 0xE9, 0] + Array(repeating: 0, count: 12), .invalidUTF8),
            ([0x0C, 97, 0, 1, 0, 0, 0, 0] + Array(repeating: 0, count: 11), .truncated),
            ([0x05, 97, 0, 255, 255, 255, 255, 0], .invalidLength),
            ([0x05, 97, 0, 1, 0, 0, 0, 0], .truncated),
            ([0x05, 97, 0, 4, 0, 0, 0, 2, 1, 0, 0, 0], .invalidBinary),
            ([0x05, 97, 0, 3, 0, 0, 0, 2, 0, 0, 0], .invalidBinary),
            ([0x03, 97, 0, 6, 0, 0, 0, 0], .truncated),
            ([0x04, 97, 0, 4, 0, 0, 0, 0], .invalidLength),
            ([0x0F, 97, 0, 14, 0, 0, 0, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0], .truncated),
            ([0x0F, 97, 0, 15, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0], .invalidLength),
            ([0x0F, 97, 0, 13, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0], .invalidLength),
        ] as [([UInt8], BSONError.Code)])
    func `A wrong element is refused`(_ element: [UInt8], _ code: BSONError.Code) {
        #expect(fault(document(element))?.code == code)
    }

    @Test(
        arguments: [
            ([0xC0, 0x80], false), ([0xC1, 0xBF], false), ([0xC2, 0x80], true),
            ([0xE0, 0x9F, 0xBF], false), ([0xE0, 0xA0, 0x80], true),
            ([0xED, 0x9F, 0xBF], true), ([0xED, 0xA0, 0x80], false), ([0xEE, 0x80, 0x80], true),
            ([0xF0, 0x8F, 0xBF, 0xBF], false), ([0xF0, 0x90, 0x80, 0x80], true),
            ([0xF4, 0x8F, 0xBF, 0xBF], true), ([0xF4, 0x90, 0x80, 0x80], false),
            ([0xF5, 0x80, 0x80, 0x80], false), ([0x80], false), ([0xE2, 0x82], false),
            ([0xF0, 0x9F, 0x98], false), ([0xFF], false),
        ] as [([UInt8], Bool)])
    func `Text is UTF-8 at any place of a word`(_ scalar: [UInt8], _ isValid: Bool) {
        for before in 0..<40 {
            for after in [0, 1, 9, 40] {
                let text =
                    Array(repeating: 97, count: before) + scalar
                    + Array(repeating: 98, count: after)
                let length = [UInt8(text.count + 1), 0, 0, 0]
                let bytes = document([0x02, 97, 0] + length + text + [0])
                #expect((fault(bytes) == nil) == isValid)
                #expect((fault(document([0x0A] + text + [0])) == nil) == isValid)
            }
        }
    }

    @Test func `Depth and size are bounded by the limits`() {
        func nested(_ levels: Int) -> [UInt8] {
            var bytes: [UInt8] = document([])
            for _ in 1..<levels { bytes = document([0x03, 97, 0] + bytes) }
            return bytes
        }
        #expect(fault(nested(100)) == nil)
        #expect(fault(nested(101))?.code == .tooDeep)
        #expect(fault(nested(3), limits: BSONLimits(depthMax: 2))?.code == .tooDeep)
        #expect(fault(nested(2000), limits: BSONLimits(depthMax: 2000)) == nil)
        #expect(fault([5, 0, 0, 0, 0], limits: BSONLimits(depthMax: 0))?.code == .tooDeep)
        #expect(fault(nested(2), limits: BSONLimits(documentBytesMax: 12))?.code == .tooLarge)
        #expect(fault(nested(2), limits: BSONLimits(documentBytesMax: 13)) == nil)
    }
}

/// Without these, some damage to foreign bytes could trap or pass unseen.
struct BSONDamageTests {
    /// Reads everything that can be read; must not trap for what was accepted.
    private func walk(_ document: BSONDocument) -> Int {
        var seen = 0
        for (_, value) in document {
            seen += 1
            switch value {
            case .document(let nested): seen += walk(nested)
            case .array(let array): seen += walk(array.document)
            case .javascriptWithScope(let code): seen += walk(code.scope)
            default: break
            }
        }
        return seen
    }

    private func accept(_ bytes: [UInt8]) -> BSONDocument? {
        do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
    }

    @Test func `Every truncation is refused`() {
        var random = RandomBSON(seed: 41)
        for _ in 0..<60 {
            let bytes = random.document().bytes
            for count in 0..<bytes.count {
                var cut = Array(bytes.prefix(count))
                #expect(accept(cut) == nil)
                guard count >= 5 else { continue }
                for index in 0..<4 { cut[index] = UInt8(truncatingIfNeeded: count >> (index * 8)) }
                if let document = accept(cut) { #expect(walk(document) >= 0) }
            }
        }
    }

    @Test func `Random damage is refused or leads to a document that can be read`() {
        var random = RandomBSON(seed: 42)
        var accepted = 0
        var refused = 0
        for _ in 0..<3000 {
            var bytes = random.document().bytes
            for _ in 0..<random.number(1..<4) {
                let at = random.number(0..<bytes.count)
                bytes[at] = random.pick([0, 1, 2, 3, 4, 5, 0x0F, 0x7F, 0x80, 0xFF, bytes[at] ^ 1])
            }
            if let document = accept(bytes) {
                accepted += 1
                #expect(walk(document) == walk(BSONDocument(document.map { ($0.key, $0.value) })))
            } else {
                refused += 1
            }
        }
        #expect(accepted > 100)
        #expect(refused > 100)
    }
}
