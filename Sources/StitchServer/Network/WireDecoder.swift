#if Server
    internal import NIOCore
    internal import StitchWire

    /// Cuts the bytes of a connection into messages, without reading what is in them.
    struct WireDecoder: ByteToMessageDecoder {
        typealias InboundOut = ByteBuffer

        private let parser = WireParser()

        mutating func decode(
            context: ChannelHandlerContext, buffer: inout ByteBuffer
        ) throws -> DecodingState {
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
