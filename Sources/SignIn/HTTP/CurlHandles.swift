internal import CLatchkeyCurl
internal import LatchkeyLog

/// One transfer's handle.
///
/// Setting an option fails only if this libcurl lacks the option, or without memory. `failure` contains the first such
/// failure; then the handle must not be used.
@safe struct CurlEasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    private(set) var failure: CURLcode = CURLE_OK

    /// Loads libcurl, unless that was done. Returns `nil` without memory.
    init?() throws(LibraryFailure) {
        try LibraryFailure.check(latchkey_curl_load())
        guard let pointer = unsafe curl.curl_easy_init() else { return nil }
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe curl.curl_easy_cleanup(pointer)
    }

    // MARK: - Options

    mutating func set(_ option: CURLoption, _ value: Int) {
        keep(unsafe latchkey_easy_set_long(pointer, option, value))
    }

    mutating func set(_ option: CURLoption, _ isOn: Bool) {
        set(option, isOn ? 1 : 0)
    }

    /// libcurl copies the text.
    mutating func set(_ option: CURLoption, copying text: String) {
        keep(unsafe text.withCString { unsafe latchkey_easy_set_pointer(pointer, option, $0) })
    }

    /// The memory at `address` must outlive the handle, unless libcurl copies this option's value.
    mutating func set(_ option: CURLoption, address: UnsafeRawPointer?) {
        keep(unsafe latchkey_easy_set_pointer(pointer, option, address))
    }

    /// libcurl keeps the address and reads the bytes while it sends.
    mutating func setBody(address: UnsafeRawPointer?, byteCount: Int) {
        keep(unsafe latchkey_easy_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(byteCount)))
        unsafe set(CURLOPT_POSTFIELDS, address: address)
    }

    mutating func set(_ option: CURLoption, callback: @escaping curl_write_callback) {
        keep(unsafe latchkey_easy_set_write(pointer, option, callback))
    }

    mutating func setOpenSocket(_ callback: @escaping curl_opensocket_callback) {
        keep(unsafe latchkey_easy_set_open_socket(pointer, callback))
    }

    mutating func hardenTLS() {
        keep(unsafe latchkey_easy_harden_tls(pointer))
    }

    private mutating func keep(_ result: CURLcode) {
        if failure == CURLE_OK { failure = result }
    }

    // MARK: - Results

    /// A text of libcurl's own, copied; `nil` when there is none.
    borrowing func text(_ info: CURLINFO) -> String? {
        var value: UnsafeMutableRawPointer?
        guard unsafe latchkey_easy_get_pointer(pointer, info, &value) == CURLE_OK, let text = unsafe value else {
            return nil
        }
        return unsafe String(cString: text.assumingMemoryBound(to: CChar.self))
    }

    borrowing func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe latchkey_easy_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }
}

/// Runs transfers side by side. All methods but `wakeUp` belong to one thread.
@safe final class CurlMultiHandle: @unchecked Sendable {
    // Sendable: the engine's thread alone calls everything but `wakeUp`, which is thread-safe (curl_multi_wakeup(3)).
    private let pointer: UnsafeMutableRawPointer

    /// Returns `nil` if memory is used up or libcurl can't be loaded.
    init?() {
        guard latchkey_curl_load().outcome == LATCHKEY_LOADED, let pointer = unsafe curl.curl_multi_init() else {
            return nil
        }
        unsafe self.pointer = unsafe pointer
        // Idle connections kept for the next request; each holds keys, so a few are enough.
        unsafe latchkey_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, 4)
    }

    deinit {
        _ = unsafe curl.curl_multi_cleanup(pointer)
    }

    @unsafe func add(_ easy: UnsafeMutableRawPointer) -> Bool {
        unsafe curl.curl_multi_add_handle(pointer, easy) == CURLM_OK
    }

    @unsafe func remove(_ easy: UnsafeMutableRawPointer) {
        _ = unsafe curl.curl_multi_remove_handle(pointer, easy)
    }

    /// Does what can be done without waiting.
    func perform() {
        var running: Int32 = 0
        _ = unsafe curl.curl_multi_perform(pointer, &running)
    }

    /// The next transfer that has ended, with its result.
    @unsafe func nextDone() -> (easy: UnsafeMutableRawPointer, result: CURLcode)? {
        var easy: UnsafeMutableRawPointer?
        var result = CURLE_OK
        guard unsafe latchkey_multi_next_done(pointer, &easy, &result) != 0, let easy = unsafe easy else { return nil }
        return unsafe (easy, result)
    }

    /// Waits until there is something to do, or someone calls `wakeUp`, or `milliseconds` have passed.
    func wait(milliseconds: Int32) {
        _ = unsafe curl.curl_multi_poll(pointer, nil, 0, milliseconds, nil)
    }

    func wakeUp() {
        _ = unsafe curl.curl_multi_wakeup(pointer)
    }
}
