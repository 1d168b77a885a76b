import Testing

@testable import BSONCore

/// Without these a hundred idle stores would hold a hundred threads, or a job after an idle time would
/// never run.
@Suite(.timeLimit(.minutes(30))) struct WorkerThreadTests {
    @Test func `an idle worker has no thread, and its next job starts one`() async {
        let worker = WorkerThread<CheckedContinuation<Void, Never>>(idleMS: 1) { job, _ in
            job.resume()
        }
        for _ in 0..<3 {
            await withCheckedContinuation { job in
                let isAdded = worker.add(job)
                #expect(isAdded)
            }
            while worker.isRunning { await Task.yield() }
        }
    }

    @Test func `jobs that come while the thread ends are done`() async {
        let worker = WorkerThread<CheckedContinuation<Void, Never>>(idleMS: 0) {
            job, waiting in
            job.resume()
            while let next = waiting.popFirst() { next.resume() }
        }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        await withCheckedContinuation { job in
                            let isAdded = worker.add(job)
                            #expect(isAdded)
                        }
                    }
                }
            }
        }
    }

    @Test func `a stopped worker takes no job`() {
        let worker = WorkerThread<Int> { _, _ in }
        #expect(worker.add(1))
        worker.stop()
        #expect(!worker.add(2))
    }
}
