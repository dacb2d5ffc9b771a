#pragma once
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

#define LATCHKEY_NAME_ABSENT (-1)
#define LATCHKEY_NAME_TRY_AGAIN (-2)
#define LATCHKEY_NAME_FAILED (-3)

// Asks for the TXT records of an absolute name (resolver(3)), with the system's configuration, or of one server on an
// IPv4 address: the number of bytes of the response, which may be more than the room there is, or one of the numbers
// above.
static inline int latchkey_resolve_text(const char *name, const char *server, unsigned short port, int seconds,
                                        unsigned char *response, int room) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return LATCHKEY_NAME_FAILED;
    if (server) {
        state.nscount = 1;
        memset(&state.nsaddr_list[0], 0, sizeof state.nsaddr_list[0]);
        state.nsaddr_list[0].sin_family = AF_INET;
        state.nsaddr_list[0].sin_port = htons(port);
        if (inet_pton(AF_INET, server, &state.nsaddr_list[0].sin_addr) != 1) {
            res_nclose(&state);
            return LATCHKEY_NAME_FAILED;
        }
    }
    state.options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    state.retrans = seconds;
    state.retry = 2;
    int count = res_nquery(&state, name, ns_c_in, ns_t_txt, response, room);
    int problem = state.res_h_errno;
    res_nclose(&state);
    if (count >= 0) return count;
    if (problem == HOST_NOT_FOUND || problem == NO_DATA) return LATCHKEY_NAME_ABSENT;
    return problem == TRY_AGAIN ? LATCHKEY_NAME_TRY_AGAIN : LATCHKEY_NAME_FAILED;
}
