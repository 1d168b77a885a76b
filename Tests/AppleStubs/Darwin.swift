// The declarations of Apple's C library that our code uses and Glibc lacks or types otherwise.
@_exported public import DarwinC
@_exported public import Glibc

public let O_EVTONLY: CInt = 0x8000
public let EVFILT_VNODE: CInt = -4
public let EV_ADD: CInt = 1
public let EV_CLEAR: CInt = 0x20
public let NOTE_DELETE: CInt = 1
public let NOTE_WRITE: CInt = 2
public let NOTE_EXTEND: CInt = 4
public let NOTE_RENAME: CInt = 0x20

public typealias pthread_t = UnsafeMutableRawPointer

@discardableResult
public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>!, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> CInt { -1 }

@discardableResult
public func pthread_detach(_ thread: pthread_t) -> CInt { -1 }

@discardableResult
public func pthread_cond_timedwait_relative_np(
    _ condition: UnsafeMutablePointer<pthread_cond_t>!,
    _ mutex: UnsafeMutablePointer<pthread_mutex_t>!, _ time: UnsafePointer<timespec>?
) -> CInt { -1 }

public func pthread_self() -> pthread_t { fatalError("a stub") }
