import LatchkeyOAuth

/// The error that `body` throws, or `nil`. (`#expect(throws:)` can't hold noncopyable results.)
func failure<Result: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Result) -> Failure? {
    do throws(Failure) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// The error that `body` throws, or `nil`.
func failure<Result: ~Copyable>(
    _ body: () async throws(OAuthError) -> Result
) async -> OAuthError? {
    do throws(OAuthError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
