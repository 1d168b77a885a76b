/// What the command line asks for.
struct SweepSettings {
    /// How long each road is measured.
    private(set) var effort = SweepEffort.full
    /// Whether to print the names of the roads only.
    private(set) var lists = false
    private var road = ""

    /// An argument that is none of the program's.
    struct Wrong: Error { let argument: String }

    /// Reads the arguments.
    init(_ arguments: some Sequence<String>) throws {
        for argument in arguments {
            switch argument {
            case "--short": effort = .short
            case "--list": lists = true
            case _ where argument.hasPrefix("road="):
                road = String(argument.dropFirst("road=".count))
            default: throw Wrong(argument: argument)
            }
        }
    }

    /// Whether a road is to be taken.
    func wants(_ road: Road) -> Bool { self.road.isEmpty || road.name.contains(self.road) }
}

/// How long each road is measured.
struct SweepEffort {
    /// The processor time that the smallest size is to need, in nanoseconds; it decides about n.
    let firstNS: Double
    /// The processor time that is measured at each size at least, in nanoseconds.
    let leastNS: Double
    /// How often each size is measured; the least time counts.
    let rounds: Int

    /// What `make sweep` takes.
    static let full = SweepEffort(firstNS: 10e6, leastNS: 20e6, rounds: 3)
    /// What CI takes.
    static let short = SweepEffort(firstNS: 3e6, leastNS: 3e6, rounds: 2)

    /// The effort for a row that missed: its first size needs four times as long.
    var next: SweepEffort {
        SweepEffort(firstNS: firstNS * 4, leastNS: max(leastNS, 20e6), rounds: 3)
    }
}
