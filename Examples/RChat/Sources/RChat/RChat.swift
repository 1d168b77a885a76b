import Foundation

/// Starts what this process is: the chat of a terminal, or the app's backend.
@main
enum RChat {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("chat", 3...4):
                let script = arguments.count == 4 && !arguments[3].isEmpty ? arguments[3] : nil
                let lines = try Terminal.lines(of: script)
                let chat = Chat(address: arguments[1], folder: arguments[2], script: script)
                try await chat.run(lines)
            case ("backend", 4...):
                let backend = try Backend(address: arguments[1], file: arguments[2])
                try await backend.run(users: Array(arguments.dropFirst(3)))
            default:
                throw ChatFailure(
                    "usage: RChat chat ADDRESS FOLDER [SCRIPT] | backend ADDRESS FILE NAME…")
            }
        } catch {
            Terminal.say("rchat: \(error)")
            exit(1)
        }
    }
}

/// A sentence that tells what cannot be done.
struct ChatFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
