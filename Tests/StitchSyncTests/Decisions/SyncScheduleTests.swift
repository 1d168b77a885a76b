import Testing

@testable import StitchSync

struct SyncScheduleTests {
    @Test("a collection is synced as its frequency says, over all cases")
    func table() {
        let connected = SyncFrequency.scheduled(every: .seconds(60), isConnected: true)
        let apart = SyncFrequency.scheduled(every: .seconds(60), isConnected: false)
        let rows: [(SyncFrequency, Duration?, Duration, SyncSchedule.Decision)] = [
            (.reactive, nil, .zero, .now),
            (.reactive, .seconds(5), .seconds(5), .now),
            (.onDemand, nil, .zero, .never),
            (.onDemand, .seconds(5), .seconds(500), .never),
            (connected, nil, .seconds(7), .now),
            (connected, .seconds(5), .seconds(5), .after(.seconds(60))),
            (apart, .seconds(5), .seconds(64), .after(.seconds(1))),
            (apart, .seconds(5), .seconds(65), .now),
            (apart, .seconds(5), .seconds(500), .now),
        ]
        for (frequency, lastQuiet, now, decision) in rows {
            let facts = SyncSchedule.Facts(frequency: frequency, lastQuiet: lastQuiet)
            #expect(SyncSchedule.decide(facts, now: now) == decision)
        }
        #expect(
            [.reactive, connected, apart, .onDemand].map(SyncSchedule.isWatched)
                == [true, true, false, false])
    }
}
