// libbson's opinion about bytes.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Whether libbson takes the bytes for a valid document, walking into nested ones itself.
///
/// Its own validation stops at the first code with scope and says all is well, and does not look
/// at texts in values, so this walks every level and calls it for each document without relying
/// on it to descend.
int oracle_accepts(const uint8_t *bytes, size_t count);
