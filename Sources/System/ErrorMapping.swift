/// Evaluates an expression, and turns what it throws into another error.
///
/// The expression is written as it stands: `try mapError(SignInError.oauth, of: makeSigner())`.
package func mapError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, of value: @autoclosure () throws(Given) -> Value
) throws(Mapped) -> Value {
    do throws(Given) {
        return try value()
    } catch {
        throw transform(error)
    }
}

/// The same for an asynchronous expression, which is evaluated where the caller is.
package func mapError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, awaiting value: @autoclosure () async throws(Given) -> Value
) async throws(Mapped) -> Value {
    do throws(Given) {
        return try await value()
    } catch {
        throw transform(error)
    }
}
