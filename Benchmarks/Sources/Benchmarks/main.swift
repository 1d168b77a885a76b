import BSONStore
import BenchmarkBaseline
import Foundation

// Benchmarks [--gate] [--rounds N] [--only TEXT]   times and allocations; --gate: exit 1 on a miss
// Benchmarks list                                   the rows: gate of instructions, name
// Benchmarks once ROW baseline|ours COUNT           for callgrind: count twice and subtract

baseline_buffer_lines()
let arguments = Array(CommandLine.arguments.dropFirst())
let subjects = Subject.all()
// Counting instructions takes a hundred times as long, and most of it is filling the files.
let storeRows = StoreRows(documentCount: arguments.first == "once" ? 5_000 : 50_000)
let storeAllocations = StoreAllocations()
let scaleRows = ScaleRows()
let ruleRows = RuleRows(documentCount: arguments.first == "once" ? 1_000 : 10_000)
let coreRows =
    subjects.flatMap(CoreRows.rows) + [StaticKeyRows.row()] + subjects.flatMap(JSONRows.rows)
    + CodableRows.rows()
let isGate = arguments.contains("--gate")
// All times are of the processor, so that a busy disk fails nothing. What compares with a store of
// a million documents takes long to fill and is for reports.
let rows = coreRows + storeRows.rows() + ruleRows.rows()
let timedRows = isGate ? rows : rows + scaleRows.rows()
let allocationRows =
    subjects.flatMap(CoreRows.allocations) + [StaticKeyRows.allocations()]
    + subjects.flatMap(JSONRows.allocations) + CodableRows.allocations() + storeAllocations.rows()

for subject in subjects {
    let theirs = baseline_iterate(subject.baseline, 1)
    precondition(
        CoreRows.iterate(subject.document) == theirs, "Both sides read the same \(subject.name)")
    precondition(subject.tree.encoded() == subject.document, "The tree is the document")
}

switch arguments.first {
case "list":
    for row in rows { print(row.instructionGate, row.name) }
case "once":
    guard arguments.count == 4, let count = Int(arguments[3]),
        let row = timedRows.first(where: { $0.name == arguments[1] })
    else { exit(2) }
    row.prepare?(count)
    (arguments[2] == "baseline" ? row.baseline : row.ours)(count)
default:
    let passes = Report(arguments).run(
        timedRows, allocationRows, isGate ? [] : scaleRows.limits())
    storeRows.remove()
    storeAllocations.remove()
    scaleRows.remove()
    exit(passes ? 0 : 1)
}
