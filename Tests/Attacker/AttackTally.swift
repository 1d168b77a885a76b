import Foundation

/// What became of one attempt.
struct AttackOutcome: CustomStringConvertible {
    /// How what was attacked ended.
    enum End {
        /// It did what it was asked.
        case clean
        /// It said that it would not, by an error.
        case refused
        /// Its process died.
        case trap
        /// It did not answer in time.
        case hang
    }

    /// What was attempted.
    let what: String
    /// How it ended.
    var end = End.clean
    /// Bounds that were exceeded: of memory, of requests.
    var excesses: [String] = []
    /// What is gone or changed at a side that did nothing wrong.
    var lost: [String] = []
    /// What the attacked one said.
    var output = ""

    /// Whether it is counted among the failures.
    var isFailure: Bool {
        switch end {
        case .clean, .refused: !excesses.isEmpty || !lost.isEmpty
        case .trap, .hang: true
        }
    }

    var description: String {
        "\(what): \(end), excesses \(excesses), lost \(lost)\n\(output)"
    }
}

extension AttackOutcome.End {
    /// How a child ended, by its code: 3 where an error told of the attack; the limit of CPU time ends it
    /// by SIGXCPU or SIGKILL.
    init(code: Int32) {
        self =
            switch code {
            case 0: .clean
            case 3: .refused
            case 128 + SIGXCPU, 128 + SIGKILL: .hang
            default: .trap
            }
    }
}

/// Counts what became of the attempts of one kind, or of all.
struct AttackTally: CustomStringConvertible {
    private let name: String
    private var attempts = 0
    private var clean = 0
    private var refused = 0
    private var excesses = 0
    private var traps = 0
    private var hangs = 0
    private var lost = 0

    /// Counts nothing yet.
    init(_ name: String) { self.name = name }

    /// Whether nothing went wrong.
    var isClean: Bool { attempts > 0 && excesses + traps + hangs + lost == 0 }

    /// Counts one attempt, and shows it where it failed.
    mutating func add(_ outcome: AttackOutcome, seed: UInt64) {
        if outcome.isFailure { print("\(name) seed \(seed): \(outcome)") }
        attempts += 1
        excesses += outcome.excesses.count
        lost += outcome.lost.count
        switch outcome.end {
        case .clean: clean += 1
        case .refused: refused += 1
        case .trap: traps += 1
        case .hang: hangs += 1
        }
    }

    /// Counts what another one counted.
    mutating func add(_ other: AttackTally) {
        attempts += other.attempts
        clean += other.clean
        refused += other.refused
        excesses += other.excesses
        traps += other.traps
        hangs += other.hangs
        lost += other.lost
    }

    var description: String {
        "\(name) \(attempts): clean \(clean), refused \(refused), excesses \(excesses), "
            + "traps \(traps), hangs \(hangs), lost \(lost)"
    }
}
