#define BINFM_WORD_BITS 8u
#define BINFM_PLAIN_C 1
#include "other.h"

#include <binfm.h>

int other_check(const uint8_t *model, size_t length)
{
    return (int)binfm_check(model, length);
}

void other_encode(const uint8_t *model, const float *x, uint32_t *active)
{
    binfm_encode(model, x, active);
}

int64_t other_score(const uint8_t *model, const uint32_t *active, uint16_t output)
{
    return binfm_score(model, active, output);
}
