/* Instantiates the public functions, to measure code size and stack. */
#include "binfm.h"

binfm_status check(const uint8_t *model, size_t length);
uint16_t predict(const uint8_t *model, const float *x, uint32_t *active);
uint16_t predict_i16(const uint8_t *model, const int16_t *x, uint32_t *active);
binfm_status selftest(const uint8_t *model, size_t length, const uint8_t *tests, float *x, uint32_t *active);

binfm_status check(const uint8_t *model, size_t length)
{
    return binfm_check(model, length);
}

uint16_t predict(const uint8_t *model, const float *x, uint32_t *active)
{
    return binfm_predict(model, x, active);
}

uint16_t predict_i16(const uint8_t *model, const int16_t *x, uint32_t *active)
{
    return binfm_predict_i16(model, x, active);
}

binfm_status selftest(const uint8_t *model, size_t length, const uint8_t *tests, float *x, uint32_t *active)
{
    return binfm_selftest(model, length, tests, 8u, x, active);
}
