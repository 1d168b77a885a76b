// A to-do list at the terminal that works offline: Todo FILE REMOTE, then a command a line.
import BSONStore
import Foundation
import StitchSync

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let file = arguments.first, let remote = arguments.last else {
    print("usage: Todo FILE REMOTE, for example: Todo phone.stitch stitchsync://127.0.0.1:27017")
    exit(64)
}
let list = try await TodoList(at: file, remote: remote) { print($0) }
while let line = readLine() {
    do {
        guard try await list.carryOut(line) else { break }
    } catch {
        print("  not done: \(error)")
    }
}
