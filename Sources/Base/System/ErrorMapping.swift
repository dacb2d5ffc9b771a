/// Evaluates an expression, and converts its error to another one.
///
/// The expression is an autoclosure: `try mapError(SignInError.oauth, of: makeSigner())`.
package func mapError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, of value: @autoclosure () throws(Given) -> Value
) throws(Mapped) -> Value {
    try mappingError(transform, value)
}

/// The same for several statements.
package func mappingError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, _ body: () throws(Given) -> Value
) throws(Mapped) -> Value {
    do throws(Given) {
        return try body()
    } catch {
        throw transform(error)
    }
}

/// The same for an asynchronous expression, which is evaluated where the caller is.
package func mapError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, awaiting value: @autoclosure () async throws(Given) -> Value
) async throws(Mapped) -> Value {
    try await mappingError(transform, value)
}

/// The same for several statements, of which one waits.
package func mappingError<Given: Error, Mapped: Error, Value: ~Copyable>(
    _ transform: (Given) -> Mapped, _ body: () async throws(Given) -> Value
) async throws(Mapped) -> Value {
    do throws(Given) {
        return try await body()
    } catch {
        throw transform(error)
    }
}

/// Returns what an expression throws, for a caller that goes on without its value, or `nil`.
package func failure<Failure: Error, Value: ~Copyable>(
    _: Failure.Type, of value: @autoclosure () throws(Failure) -> Value
) -> Failure? {
    do throws(Failure) {
        _ = try value()
        return nil
    } catch {
        return error
    }
}

/// The same for an asynchronous expression, which is evaluated where the caller is.
package func failure<Failure: Error, Value: ~Copyable>(
    _: Failure.Type, awaiting value: @autoclosure () async throws(Failure) -> Value
) async -> Failure? {
    do throws(Failure) {
        _ = try await value()
        return nil
    } catch {
        return error
    }
}

extension Result where Success: ~Copyable {
    /// The outcome of an asynchronous expression, which is evaluated where the caller is.
    package init(awaiting value: @autoclosure () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await value())
        } catch {
            self = .failure(error)
        }
    }
}

/// Evaluates an expression; one kind of what it throws is `nil` instead: what isn't there, or can't be read.
package func nilIf<Failure: Error, Value: ~Copyable>(
    _ isAbsence: (Failure) -> Bool, of value: @autoclosure () throws(Failure) -> Value
) throws(Failure) -> Value? {
    do throws(Failure) {
        return try value()
    } catch {
        guard isAbsence(error) else { throw error }
        return nil
    }
}

/// The same for an asynchronous expression, which is evaluated where the caller is.
package func nilIf<Failure: Error, Value: ~Copyable>(
    _ isAbsence: (Failure) -> Bool, awaiting value: @autoclosure () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    do throws(Failure) {
        return try await value()
    } catch {
        guard isAbsence(error) else { throw error }
        return nil
    }
}
