#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import StitchCommands

    /// The end of a connection's pipeline: brings replies and the connection's end to the table.
    final class ReplyHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let table: ReplyTable

        init(_ table: ReplyTable) { self.table = table }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !table.deliver(unwrapInboundIn(data)) else { return }
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            table.end(.network("the server closed the connection"))
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            table.end(.network("the connection failed: \(error)"))
            context.close(promise: nil)
        }
    }
#endif
