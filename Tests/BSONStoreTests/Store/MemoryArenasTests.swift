#if canImport(Glibc)
    import Foundation
    import Testing

    @testable import BSONStore

    /// Without these a server would keep all memory that its threads ever needed at the same time.
    @Suite struct MemoryArenasTests {
        private static let blockBytes = 60_000
        private static let blockCount = 1_000
        private static let threadCount = 8

        @Test func `threads that freed their memory leave little of it with the process`() async {
            await #expect(processExitsWith: .success) {
                MemoryArenas.limit(to: 2)
                guard let before = MemoryArenas.resident, let taken = MemoryArenas.taken else {
                    preconditionFailure("nothing is counted")
                }
                let peak = Self.allocateInThreads()
                precondition(peak.taken - taken > Self.bytes, "the count does not see blocks")
                precondition(peak.resident - before > Self.bytes, "the blocks are not in memory")
                MemoryArenas.trim(above: 0)
                guard let after = MemoryArenas.resident else { return }
                // One arena keeps its end; the first gives all of it back.
                let limit = MemoryArenas.keptMax + 8 * 1024 * 1024
                precondition(after - before < limit, "\(after - before) bytes are left")
            }
        }

        @Test func `a freed large block does not raise what the arenas keep`() async {
            await #expect(processExitsWith: .success) {
                MemoryArenas.limit(to: 2)
                // By itself glibc keeps twice as much in each arena from now on.
                free(calloc(30, 1024 * 1024))
                guard let before = MemoryArenas.resident else { return }
                _ = Self.allocateInThreads()
                guard let after = MemoryArenas.resident else { return }
                let limit = 2 * MemoryArenas.keptMax + 8 * 1024 * 1024
                precondition(after - before < limit, "\(after - before) bytes are left")
            }
        }

        private static var bytes: Int { threadCount * blockCount * blockBytes }

        /// Has threads hold blocks at the same time, free them and wait for each other.
        ///
        /// - Returns: the bytes of the process while all blocks are held.
        private static func allocateInThreads() -> (taken: Int, resident: Int) {
            let (held, measured) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let freed = DispatchSemaphore(value: 0)
            for _ in 0..<threadCount {
                Thread {
                    let blocks = (0..<blockCount).map { _ in
                        let block = UnsafeMutableRawPointer.allocate(
                            byteCount: blockBytes, alignment: 16)
                        memset(block, 1, blockBytes)
                        return block
                    }
                    held.signal()
                    measured.wait()
                    for block in blocks { block.deallocate() }
                    freed.signal()
                }.start()
            }
            for _ in 0..<threadCount { held.wait() }
            let peak = (MemoryArenas.taken ?? 0, MemoryArenas.resident ?? 0)
            for _ in 0..<threadCount { measured.signal() }
            for _ in 0..<threadCount { freed.wait() }
            return peak
        }
    }
#endif
