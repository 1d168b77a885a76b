#if canImport(Glibc)
    import Foundation
    import TestProcesses
    import Testing

    @testable import BSONStore

    /// Without this a server would keep all memory that its threads ever needed at the same time.
    @Suite struct MemoryArenasTests {
        private static let blockBytes = 60_000
        private static let blockCount = 800

        @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer has an allocator of its own"))
        func `memory that a thread freed returns to the system`() async {
            await #expect(processExitsWith: .success) {
                // Enough that the thread has another arena than the program's first.
                MemoryArenas.limit(to: 8)
                // By itself glibc lets each arena keep twice as much from now on.
                free(calloc(30, 1024 * 1024))
                guard let taken = MemoryArenas.taken, let before = MemoryArenas.resident else {
                    preconditionFailure("the C library counts nothing")
                }
                let peak = await withCheckedContinuation { continuation in
                    Thread { continuation.resume(returning: Self.peak()) }.start()
                }
                let bytes = Self.blockCount * Self.blockBytes
                precondition(peak.taken - taken >= bytes, "the blocks do not count")
                precondition(peak.resident - before >= bytes, "the blocks are not in memory")
                precondition(MemoryArenas.trim(above: 0), "nothing is free")
                let left = (MemoryArenas.resident ?? .max) - before
                precondition(left < MemoryArenas.keptMax + 8 * 1024 * 1024, "\(left) bytes left")
            }
        }

        /// Allocates blocks, measures the process and frees them.
        private static func peak() -> (taken: Int, resident: Int) {
            let blocks = (0..<blockCount).map { _ in
                let block = UnsafeMutableRawPointer.allocate(byteCount: blockBytes, alignment: 16)
                memset(block, 1, blockBytes)
                return block
            }
            defer { for block in blocks { block.deallocate() } }
            return (MemoryArenas.taken ?? 0, MemoryArenas.resident ?? 0)
        }
    }
#endif
