import Testing

@testable import StitchSyncCommand

/// Without this a history would keep a password.
@Suite struct LineHistoryTests {
    @Test func `statements with passwords are secret`() {
        for text in [
            "db.createUser({ user: 'a' })", "connect('mongodb://a:bc@h')", "passwordPrompt()",
            "db.auth('a', 'b')", "{ PWD: 1 }",
        ] {
            #expect(LineHistory.isSecret(text), "\(text)")
        }
        #expect(!LineHistory.isSecret("db.users.find({ name: 'a@b' })"))
    }
}
