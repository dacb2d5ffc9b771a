#pragma once
// Nothing to call: see disk.c.
