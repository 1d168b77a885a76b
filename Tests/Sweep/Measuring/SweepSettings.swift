/// What the command line asks for.
struct SweepSettings {
    /// How long each road is measured.
    private(set) var effort = SweepEffort.full
    /// Whether to print the names of the roads only.
    private(set) var lists = false
    private var wanted: [Substring] = []

    /// An argument that is none of the program's.
    struct Wrong: Error { let argument: String }

    /// Reads the arguments.
    init(_ arguments: some Sequence<String>) throws {
        for argument in arguments {
            switch argument {
            case "--short": effort = .short
            case "--list": lists = true
            case _ where argument.hasPrefix("road="):
                wanted = argument.dropFirst("road=".count).split(separator: ",")
            default: throw Wrong(argument: argument)
            }
        }
    }

    /// Whether a road is to be taken.
    func wants(_ road: Road) -> Bool {
        wanted.isEmpty || wanted.contains { road.name.contains($0) }
    }
}

/// How long each road is measured.
struct SweepEffort {
    /// The processor time that the smallest size is to need, in nanoseconds; it decides about n.
    let firstNS: Double
    /// The processor time that is measured at each size at least, in nanoseconds.
    let leastNS: Double
    /// How often each size is measured; the least time counts.
    let rounds: Int
    /// The sizes, as multiples of n.
    let factors: [Int]
    /// A greater exponent is measured again before it counts.
    let exponentMax: Double

    /// What `make sweep` takes.
    static let full = SweepEffort(
        firstNS: 10e6, leastNS: 20e6, rounds: 3, factors: allFactors,
        exponentMax: SweepRow.exponentMax)
    /// What CI takes: the least and the greatest size, and all of them where these grow too fast.
    static let short = SweepEffort(
        firstNS: 1e6, leastNS: 1e6, rounds: 1, factors: [1, 8], exponentMax: 1.15)
    private static let allFactors = [1, 2, 4, 8]

    /// The effort for a row that missed: its first size needs four times as long.
    var next: SweepEffort {
        SweepEffort(
            firstNS: firstNS * 4, leastNS: 20e6, rounds: 3, factors: Self.allFactors,
            exponentMax: SweepRow.exponentMax)
    }
}
