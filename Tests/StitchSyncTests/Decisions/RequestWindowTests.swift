import Testing

@testable import StitchSync

@Suite struct RequestWindowTests {
    @Test("the window grows while answers wait for the way, and shrinks where they wait for others")
    func adapts() {
        var window = RequestWindow(2...5)
        for _ in 0..<3 { window.note(.milliseconds(50)) }
        #expect(window.size == 4)
        for _ in 0..<9 { window.note(.milliseconds(60)) }
        #expect(window.size == 5)
        // Between the two, all is well.
        window.note(.milliseconds(90))
        #expect(window.size == 5)
        for _ in 0..<9 { window.note(.milliseconds(101)) }
        #expect(window.size == 2)
    }

    @Test("the first answer tells nothing of others")
    func first() {
        var window = RequestWindow(4...16)
        window.note(.milliseconds(9))
        #expect(window.size == 4)
        // A shorter one is what later ones are compared with.
        window.note(.milliseconds(3))
        #expect(window.size == 5)
        window.note(.milliseconds(9))
        #expect(window.size == 4)
    }

    @Test("pages grow while they are late, full and small")
    func pages() {
        var size = PageSize(100)
        size.note(isLate: false, entries: 100, bytes: 1, atMost: 1_000)
        size.note(isLate: true, entries: 99, bytes: 1, atMost: 1_000)
        size.note(isLate: true, entries: 100, bytes: 501, atMost: 1_000)
        #expect(size.count == 100)
        for _ in 0..<9 { size.note(isLate: true, entries: size.count, bytes: 500, atMost: 1_000) }
        #expect(size.count == 800)
    }
}
