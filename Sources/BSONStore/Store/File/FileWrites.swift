#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The writes to some files by any process, which the system reports without polling.
///
/// Linux reports them by inotify, Apple's systems by kqueue. Neither reports a write through a
/// mapping of the file into memory.
final class FileWrites: Sendable {
    /// Why a wait ended.
    enum Wake: Equatable {
        /// A file was written; ``reported()`` has it.
        case written
        case interrupted
        case timeout
    }

    /// A file whose writes are reported.
    struct File: Hashable, Sendable {
        fileprivate let number: CInt

        /// One of the files: the system had too many reports to keep them.
        static let unknown = File(number: -1)
    }

    /// The descriptor of the system's queue of events.
    private let events: CInt
    /// The two ends of a pipe: a byte in it interrupts a wait.
    private let (interruptions, interrupter): (CInt, CInt)

    /// Makes an empty queue of events; `nil` if the system has none left.
    init?() {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        #if canImport(Darwin)
            events = kqueue()
        #else
            events = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        #endif
        (interruptions, interrupter) = (ends[0], ends[1])
        guard events >= 0 else { return nil }
    }

    deinit {
        close(events)
        close(interruptions)
        close(interrupter)
    }

    /// Begins to report the writes to a file; `nil` if the system cannot.
    ///
    /// On Linux a file that is added twice is the same ``File`` both times, and one
    /// ``remove(_:)`` ends both.
    func add(_ path: String) -> File? {
        #if canImport(Darwin)
            let file = open(path, O_EVTONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            var change = Darwin.kevent(
                ident: UInt(file), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR),
                fflags: UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME), data: 0,
                udata: nil)
            guard kevent(events, &change, 1, nil, 0, nil) == 0 else {
                close(file)
                return nil
            }
            return File(number: file)
        #else
            let number = inotify_add_watch(events, path, UInt32(IN_MODIFY | IN_DELETE_SELF))
            return number < 0 ? nil : File(number: number)
        #endif
    }

    /// Ends the reports of a file.
    func remove(_ file: File) {
        #if canImport(Darwin)
            close(file.number)
        #else
            _ = inotify_rm_watch(events, file.number)
        #endif
    }

    /// Waits on the calling thread for a report that ``reported()`` has not returned yet, or an
    /// interruption.
    ///
    /// Only one thread may wait.
    func wait(milliseconds: Int) -> Wake {
        var sources = [
            pollfd(fd: interruptions, events: Int16(POLLIN), revents: 0),
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
        ]
        // A signal ends the wait early, as if its time were over.
        guard poll(&sources, 2, CInt(clamping: milliseconds)) > 0 else { return .timeout }
        guard sources[0].revents != 0 else { return .written }
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            while read(interruptions, buffer.baseAddress, buffer.count) > 0 {}
        }
        return .interrupted
    }

    /// Returns the files that were written since the last call, without waiting.
    func reported() -> Set<File> {
        var files: Set<File> = []
        #if canImport(Darwin)
            var event = Darwin.kevent()
            var now = timespec()
            while kevent(events, nil, 0, &event, 1, &now) > 0 {
                files.insert(File(number: CInt(event.ident)))
            }
        #else
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                while true {
                    let count = read(events, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return }
                    files.formUnion(Self.files(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                }
            }
        #endif
        return files
    }

    #if !canImport(Darwin)
        /// The files of some events, each of which a name may follow.
        private static func files(_ events: UnsafeRawBufferPointer) -> Set<File> {
            var files: Set<File> = []
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= events.count {
                let event = events.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                // A queue that is full has the number -1.
                files.insert(File(number: event.wd))
                offset += MemoryLayout<inotify_event>.size + Int(event.len)
            }
            return files
        }
    #endif

    /// Ends a wait that is under way, or the next one.
    func interrupt() {
        var byte: UInt8 = 1
        // A full pipe interrupts, too.
        _ = write(interrupter, &byte, 1)
    }
}
