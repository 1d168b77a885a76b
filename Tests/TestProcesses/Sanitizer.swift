import Foundation

/// What a sanitizer changes for tests.
package enum Sanitizer {
    /// Whether the tests run under a sanitizer, whose own memory is several times the program's.
    package static var isOn: Bool {
        ProcessInfo.processInfo.environment["STITCHSYNC_SANITIZER"] != nil
    }
}
