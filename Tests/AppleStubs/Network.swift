// The declarations of Apple's Network framework that our code uses.
public import Dispatch
public import Security

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { .unsatisfied }
    public var isExpensive: Bool { false }
    public var isConstrained: Bool { false }
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public final class NWPathMonitor: @unchecked Sendable {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public init() {}
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public enum NWProtocolTLS {
    public final class Options {
        public let securityProtocolOptions = sec_protocol_options_t()
        public init() {}
    }
}
