import Testing

@testable import BSONScript
@testable import BSONStore

/// A script must not end the process, nor take memory that it is refused afterwards.
@Suite struct ScriptMemoryTests {
    @Test(
        "Values within values are released without recursion",
        arguments: [
            "var a = []; for (var i = 0; i < 100000; i++) a = [a]; return true",
            "var a = []; for (var i = 0; i < 100000; i++) a = {a: a}; a = 0; return true",
            "var a = []; for (var i = 0; i < 100000; i++) { var b = []; b.push(a); a = b } return 1",
            "var f = 1; for (let i = 0; i < 100000; i++) { let g = f; f = () => g } return true",
        ])
    func release(text: String) throws {
        #expect(try Script(text).accepts([:]))
    }

    @Test(
        "What is too much is refused before it is made",
        arguments: [
            "'x'.repeat(60000000).repeat(60000000)", "'x'.padStart(1e15)",
            "Array(1000000).fill('x'.repeat(1000000)).join('')",
            "Array(1000000).join('x'.repeat(1000000))",
            "var a = ['x'.repeat(1000)]; for (var i = 0; i < 30; i++) a = [a, a]; return '' + a",
            "var a = ['x'.repeat(1000)]; for (var i = 0; i < 30; i++) a = [a, a]; return a.join()",
            "var s = 'x'.repeat(30000000); return s.concat(s, s, s, s, s, s)",
            "var a = Array(500000); return [].concat(a, a, a, a, a, a, a, a, a, a, a, a)",
        ])
    func memory(text: String) {
        let start = ContinuousClock.now
        #expect(throws: StoreError.self) { try Script(text).accepts([:]) }
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
