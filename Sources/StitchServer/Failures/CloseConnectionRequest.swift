/// Says that a test wants the connection to be closed without an answer.
struct CloseConnectionRequest: Error {}
