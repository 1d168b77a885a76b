#if Remote
    import Foundation
    import Testing

    /// Without this a write could be lost, or a device stay behind, in one of the many orders in which
    /// connections are cut and servers die, which no scenario spells out.
    @Suite struct SyncSoakTests {
        /// `make soak-sync` asks for more.
        private static let minutes =
            ProcessInfo.processInfo.environment["SOAK_MINUTES"].flatMap { Int($0) }

        @Test(
            "devices under rules agree with a server that dies, over connections that are cut",
            .timeLimit(.minutes(90)))
        func server() async throws { try await soak(SoakServer.init) }

        #if MongoRemote
            @Test(
                "devices at two gateways agree with an upstream, whichever of them dies",
                .timeLimit(.minutes(90)))
            func gateways() async throws { try await soak(SoakGateways.init) }
        #endif

        private func soak(_ start: (_ rules: String) throws -> any SoakServers) async throws {
            let world = try await SoakWorld(seed: 36, start)
            try await world.run(for: .seconds(Self.minutes.map { $0 * 60 } ?? 10))
            let tally = world.ledger.tally
            // The report of a run that was asked for.
            if Self.minutes != nil { FileHandle.standardError.write(Data("\(tally)\n".utf8)) }
            #expect(tally.surprises == [])
            #expect(tally.isComplete && tally.reverted > 0, "\(tally)")
        }
    }
#endif
