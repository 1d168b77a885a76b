/// What the command line asks for, as `name=value`.
struct AttackSettings {
    private var values: [String: String] = [:]

    /// Reads the arguments.
    init(_ arguments: [String]) {
        for argument in arguments {
            let parts = argument.split(separator: "=")
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
    }

    /// The seed to run again, with more said; `nil` for as many as are asked for.
    var seed: UInt64? { number("seed") }
    /// How many expensive requests are only to be printed; `nil` for an attack.
    var printed: UInt64? { number("print") }
    /// The first seed.
    var first: UInt64 { number("from") ?? 1 }
    /// How many children may run at the same time.
    var jobs: Int { max(1, Int(number("jobs") ?? 2)) }

    /// The seeds of one part: the one to run again, those that are asked for, or the long form's.
    func seeds(of part: AttackPart) -> [UInt64] {
        if let seed {
            let wanted = values["of"] ?? AttackPart.mutations.rawValue
            return wanted == part.rawValue ? [seed] : []
        }
        let isRequestedByApp = AttackPart.allCases.contains { values[$0.rawValue] != nil }
        let count = number(part.rawValue) ?? (isRequestedByApp ? 0 : part.longCount)
        return Array(first..<first + count)
    }

    private func number(_ name: String) -> UInt64? { values[name].flatMap { UInt64($0) } }
}

/// The ways to attack.
enum AttackPart: String, CaseIterable {
    /// Files are damaged.
    case mutations
    /// A server is asked for much.
    case requests
    /// A remote lies to a device.
    case remotes
    /// A server is held up by many connections.
    case floods

    /// How many seeds `make attack` runs.
    var longCount: UInt64 {
        switch self {
        case .mutations: 5_000
        case .requests: 2_000
        case .remotes: 4_000
        case .floods: 60
        }
    }
}
