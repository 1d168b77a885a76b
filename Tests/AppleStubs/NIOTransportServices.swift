// The declarations of swift-nio-transport-services that our code uses; that package is empty on Linux.
public import NIOCore
public import Network

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 6, *)
public final class NIOTSEventLoopGroup: @unchecked Sendable {
    public static var singleton: NIOTSEventLoopGroup { NIOTSEventLoopGroup() }
    public func next() -> any EventLoop { fatalError("a stub") }
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 6, *)
public final class NIOTSConnectionBootstrap {
    public init(group: NIOTSEventLoopGroup) {}

    public func connectTimeout(_ timeout: TimeAmount) -> Self { self }

    public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self
    { self }

    public func tlsOptions(_ options: NWProtocolTLS.Options) -> Self { self }

    public func channelInitializer(
        _ handler: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> Self { self }

    public func connect(host: String, port: Int) -> EventLoopFuture<any Channel> {
        fatalError("a stub")
    }
}

public enum NIOTSChannelOptions {
    public static let waitForActivity = WaitForActivity()

    public struct WaitForActivity: ChannelOption {
        public typealias Value = Bool
    }
}
