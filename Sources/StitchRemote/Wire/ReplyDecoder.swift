#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire

    /// The decoder that splits a server's bytes into messages, without parsing them.
    struct ReplyDecoder: ByteToMessageDecoder {
        typealias InboundOut = ByteBuffer

        private let table: ReplyTable

        init(_ table: ReplyTable) { self.table = table }

        mutating func decode(
            context: ChannelHandlerContext, buffer: inout ByteBuffer
        ) throws -> DecodingState {
            let parser = WireParser(limits: table.limits)
            let length = try buffer.withUnsafeReadableBytes { try parser.messageLength($0) }
            guard let length, let message = buffer.readSlice(length: length) else {
                return .needMoreData
            }
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
