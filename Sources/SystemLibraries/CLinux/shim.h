#pragma once
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static inline int latchkey_prctl(int option, unsigned long argument) { return prctl(option, argument, 0, 0, 0); }
