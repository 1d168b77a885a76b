import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A device's process, which receives orders and sends reports.
final class DeviceProcess {
    private let process = Process()
    private let orders = Pipe()
    private let reports = Pipe()
    private var lines: LineReader

    /// Starts this program again with other arguments.
    init(arguments: [String]) throws {
        guard let executable = Bundle.main.executableURL else {
            throw CommandError("cannot find the program's own executable file")
        }
        lines = LineReader(Descriptor(number: reports.fileHandleForReading.fileDescriptor))
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = orders
        process.standardOutput = reports
        try process.run()
    }

    /// Sends an order and waits until it is complete.
    ///
    /// - Parameter reached: receives the device's progress; `false` ends the wait.
    /// - Returns: the counts of the device; `nil` if the wait was ended.
    func carryOut(
        _ order: DeviceOrder, while reached: (Int) -> Bool = { _ in true }
    ) throws -> DeviceTally? {
        let input = Descriptor(number: orders.fileHandleForWriting.fileDescriptor)
        try input.write(Array(try JSONEncoder().encode(order)) + [UInt8(ascii: "\n")])
        while let line = try lines.next() {
            guard case .bytes(let bytes) = line.content else { break }
            switch try JSONDecoder().decode(DeviceReport.self, from: Data(bytes)) {
            case .reached(let count): if !reached(count) { return nil }
            case .finished(let tally): return tally
            case .failed(let reason): throw CommandError(reason)
            }
        }
        throw CommandError("a device's process ended in the middle of an order")
    }

    /// Kills the process (SIGKILL), as the system of a phone or an empty battery would.
    func kill() throws {
        process.end(by: SIGKILL)
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL
        else { throw CommandError("the device's process ended before it was killed") }
    }

    /// Closes the order pipe and waits for the process to exit.
    func end() throws {
        try orders.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw CommandError("a device's process ended with \(process.terminationStatus)")
        }
    }
}
