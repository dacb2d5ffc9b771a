#pragma once

/// How often malloc(3) was called in this process so far, by any thread. Executables that link this target count.
unsigned long latchkey_allocation_count(void);
