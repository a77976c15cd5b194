/* A program that predicts and, with -DCHECK, validates its model first; linked to measure flash. */
#include "binfm.h"

uint16_t program(const uint8_t *model, size_t length, const float *x, uint32_t *active);

uint16_t program(const uint8_t *model, size_t length, const float *x, uint32_t *active)
{
#ifdef CHECK
    if (binfm_check(model, length) != BINFM_OK) {
        return 0xffffu;
    }
#endif
    (void)length;
    return binfm_predict(model, x, active);
}
