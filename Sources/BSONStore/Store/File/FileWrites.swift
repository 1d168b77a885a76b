#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The writes to a file by any process, which the system reports without polling.
///
/// Linux reports them by inotify, Apple's systems by kqueue. Neither reports a write through a
/// mapping of the file into memory.
final class FileWrites: Sendable {
    /// Why a wait ended.
    enum Wake: Equatable {
        case written
        case interrupted
        case timeout
    }

    /// The descriptor of the system's queue of events.
    private let events: CInt
    /// The two ends of a pipe: a byte in it interrupts a wait.
    private let (interruptions, interrupter): (CInt, CInt)
    #if canImport(Darwin)
        /// The descriptor of the file itself.
        private let file: CInt
    #endif

    /// Begins to collect the writes to a file; `nil` if the system cannot report them.
    init?(to path: String) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        #if canImport(Darwin)
            let file = open(path, O_EVTONLY | O_CLOEXEC)
            let events = file < 0 ? -1 : kqueue()
            self.file = file
        #else
            let events = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        #endif
        self.events = events
        (interruptions, interrupter) = (ends[0], ends[1])
        guard events >= 0, watch(path) else { return nil }
    }

    deinit {
        close(events)
        close(interruptions)
        close(interrupter)
        #if canImport(Darwin)
            close(file)
        #endif
    }

    private func watch(_ path: String) -> Bool {
        #if canImport(Darwin)
            var change = Darwin.kevent(
                ident: UInt(file), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR),
                fflags: UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME), data: 0,
                udata: nil)
            return kevent(events, &change, 1, nil, 0, nil) == 0
        #else
            return inotify_add_watch(events, path, UInt32(IN_MODIFY | IN_DELETE_SELF)) >= 0
        #endif
    }

    /// Waits on the calling thread for the next write since the last wait, or an interruption.
    ///
    /// Only one thread may wait.
    func wait(milliseconds: Int) -> Wake {
        var sources = [
            pollfd(fd: interruptions, events: Int16(POLLIN), revents: 0),
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
        ]
        // A signal ends the wait early, as if its time were over.
        guard poll(&sources, 2, CInt(clamping: milliseconds)) > 0 else { return .timeout }
        if sources[0].revents != 0 {
            Self.empty(interruptions)
            return .interrupted
        }
        forget()
        return .written
    }

    /// Forgets the writes so far.
    func forget() {
        #if canImport(Darwin)
            var event = Darwin.kevent()
            var now = timespec()
            while kevent(events, nil, 0, &event, 1, &now) > 0 {}
        #else
            Self.empty(events)
        #endif
    }

    /// Ends a wait that is under way, or the next one.
    func interrupt() {
        var byte: UInt8 = 1
        // A full pipe interrupts, too.
        _ = write(interrupter, &byte, 1)
    }

    /// Reads what a descriptor holds, which does not block.
    private static func empty(_ descriptor: CInt) {
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
