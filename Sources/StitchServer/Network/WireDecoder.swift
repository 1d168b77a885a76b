#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire

    /// The decoder that splits a connection's bytes into messages, without parsing them.
    struct WireDecoder: ByteToMessageDecoder {
        typealias InboundOut = ByteBuffer

        let progress: MessageProgress
        private let server: ServerContext
        private let connection: ClientConnection

        init(_ server: ServerContext, _ connection: ClientConnection, progress: MessageProgress) {
            self.server = server
            self.connection = connection
            self.progress = progress
        }

        mutating func decode(
            context: ChannelHandlerContext, buffer: inout ByteBuffer
        ) throws -> DecodingState {
            let parser = WireParser(limits: server.limits(of: connection))
            let length = try buffer.withUnsafeReadableBytes { try parser.messageLength($0) }
            guard let length, let message = buffer.readSlice(length: length) else {
                guard progress.isWaiting(for: buffer.readableBytes) else {
                    throw WireError.length(Int32(truncatingIfNeeded: length ?? 0))
                }
                return .needMoreData
            }
            progress.messageArrived(rest: buffer.readableBytes)
            context.fireChannelRead(wrapInboundOut(message))
            return .continue
        }

        mutating func decodeLast(
            context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
        ) throws -> DecodingState {
            .needMoreData
        }
    }
#endif
