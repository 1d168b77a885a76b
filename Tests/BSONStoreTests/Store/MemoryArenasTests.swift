#if canImport(Glibc)
    import Foundation
    import Testing

    @testable import BSONStore

    /// Without this a server would keep all memory that its threads ever needed at the same time.
    @Suite struct MemoryArenasTests {
        private static let blockBytes = 60_000
        private static let blockCount = 1_000
        private static let taskCount = 8

        @Test func `memory that threads freed returns to the system`() async {
            await #expect(processExitsWith: .success) {
                MemoryArenas.limit(to: 2)
                // By itself glibc lets each arena keep twice as much from now on.
                free(calloc(30, 1024 * 1024))
                guard let taken = MemoryArenas.taken, let before = MemoryArenas.resident else {
                    preconditionFailure("the C library counts nothing")
                }
                let blocks = await Self.allocate()
                let bytes = Self.taskCount * Self.blockCount * Self.blockBytes
                precondition((MemoryArenas.taken ?? 0) - taken >= bytes, "blocks do not count")
                precondition((MemoryArenas.resident ?? 0) - before >= bytes, "no blocks in memory")
                for block in blocks { UnsafeMutableRawPointer(bitPattern: block)?.deallocate() }
                precondition(MemoryArenas.trim(above: 0), "nothing is free")
                // One arena keeps its end; trimming gives back that of the first.
                let left = (MemoryArenas.resident ?? .max) - before
                precondition(left < MemoryArenas.keptMax + 8 * 1024 * 1024, "\(left) bytes left")
            }
        }

        /// Allocates blocks in several tasks, and so in several arenas.
        ///
        /// - Returns: their addresses.
        private static func allocate() async -> [UInt] {
            await withTaskGroup(of: [UInt].self) { group in
                for _ in 0..<taskCount {
                    group.addTask {
                        (0..<blockCount).map { _ in
                            let block = UnsafeMutableRawPointer.allocate(
                                byteCount: blockBytes, alignment: 16)
                            memset(block, 1, blockBytes)
                            return UInt(bitPattern: block)
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
        }
    }
#endif
