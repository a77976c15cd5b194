/* The same functions in plain C with 8-bit words. */
#ifndef OTHER_H
#define OTHER_H

#include <stddef.h>
#include <stdint.h>

int other_check(const uint8_t *model, size_t length);
void other_encode(const uint8_t *model, const float *x, uint32_t *active);
int64_t other_score(const uint8_t *model, const uint32_t *active, uint16_t output);

#endif
