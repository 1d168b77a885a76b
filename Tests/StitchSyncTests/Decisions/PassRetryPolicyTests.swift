import Testing

@testable import StitchSync

/// Without this a remote that always has work would be asked without a pause.
@Suite struct PassRetryPolicyTests {
    @Test func `sixty passes in a row find work without a pause, and a quiet one starts anew`() {
        var policy = PassRetryPolicy()
        var busy = SyncPassReport()
        busy.taken = 1
        for _ in 0..<60 {
            let goesOn = policy.mayGoOn(after: busy)
            #expect(goesOn)
        }
        let isBeyond = policy.mayGoOn(after: busy)
        #expect(!isBeyond)
        let isQuiet = policy.mayGoOn(after: SyncPassReport())
        #expect(!isQuiet)
        let isAnew = policy.mayGoOn(after: busy)
        #expect(isAnew)
    }
}
