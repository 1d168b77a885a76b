import Testing

@testable import BSONCore

/// Without these a new standard library would slow the coders down unnoticed, or make them read
/// other memory as an object.
struct BSONContainerBoxTests {
    private enum Key: CodingKey { case name }

    private struct TwoWords { let first, second: AnyObject }

    private func isKnown<Container>(_ type: Container.Type) -> Bool {
        BSONContainerBox<BSONEncodingNode>.isLayoutKnown(type)
    }

    #if os(Linux)
        @Test("the containers of the standard library are objects, so that they are reused")
        func standardLibrary() {
            #expect(isKnown(KeyedEncodingContainer<Key>.self))
            #expect(isKnown(KeyedDecodingContainer<Key>.self))
        }
    #endif

    @Test("a container that is not one reference would be made anew for each value")
    func otherLayouts() {
        #expect(!isKnown(Int.self))
        #expect(!isKnown(UnsafeRawPointer.self))
        #expect(!isKnown(TwoWords.self))
        #expect(!isKnown((any KeyedEncodingContainerProtocol).self))
        #expect(!isKnown(String.self))
    }
}
