import StitchRemote
import Testing

struct SignInTests {
    @Test func `A user signs in at admin unless another database is named`() {
        guard
            case .user("ann", password: "p", database: "admin") = SignIn.user("ann", password: "p")
        else {
            Issue.record("another user or database")
            return
        }
    }
}
