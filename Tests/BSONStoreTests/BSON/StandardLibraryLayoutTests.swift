import BSONStore
import Testing

@testable import BSONCore

/// Without these, another compiler's library could lay its types out in another way unnoticed.
@Suite struct StandardLibraryLayoutTests {
    private enum Key: CodingKey { case name }

    /// Whether reflection finds one object in a container, and it is the one that we find.
    private static func isOneObject<Container>(_ container: Container) -> Bool {
        let parts = Array(Mirror(reflecting: container).children)
        guard parts.count == 1, StandardLibraryLayout.isOneObject(Container.self),
            Mirror(reflecting: parts[0].value).displayStyle == .class
        else { return false }
        return withUnsafePointer(to: container) { place in
            let object = StandardLibraryLayout.object(of: place.pointee)
            return object === parts[0].value as AnyObject
        }
    }

    private struct Probe: Codable {
        let isOneObject: Bool

        init() { isOneObject = true }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            isOneObject = StandardLibraryLayoutTests.isOneObject(container)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(
                StandardLibraryLayoutTests.isOneObject(container) ? "yes" : "no", forKey: .name)
        }
    }

    private struct TwoWords { let first, second: AnyObject }

    @Test("a container that is not one reference would be made anew for each value")
    func otherLayouts() {
        #expect(!StandardLibraryLayout.isOneObject(Int.self))
        #expect(!StandardLibraryLayout.isOneObject(UnsafeRawPointer.self))
        #expect(!StandardLibraryLayout.isOneObject(TwoWords.self))
        #expect(!StandardLibraryLayout.isOneObject((any KeyedEncodingContainerProtocol).self))
        #expect(!StandardLibraryLayout.isOneObject(String.self))
    }

    #if os(Linux)
        @Test("a keyed container is one reference to an object")
        func containers() throws {
            #expect(try BSONDecoder().decode(Probe.self, from: ["name": "a"]).isOneObject)
            #expect(try BSONEncoder().encode(Probe()) == ["name": "yes"])
        }
    #endif

    @Test("strings of up to 15 bytes hold their text in themselves")
    func strings() {
        #if _pointerBitWidth(_64) && _endian(little)
            #expect(StandardLibraryLayout.knowsInlineStrings)
        #endif
        guard StandardLibraryLayout.knowsInlineStrings else { return }
        for count in 0...15 {
            // Made at run time: a literal may point to its text instead.
            let text = String(decoding: Array(repeating: 0x62, count: count), as: UTF8.self)
            let words = unsafeBitCast(text, to: StandardLibraryLayout.StringWords.self)
            #expect(StandardLibraryLayout.string(words) == text)
            #expect(words.high >> 56 == 0xE0 | UInt64(count))
        }
    }
}
