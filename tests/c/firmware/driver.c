/*
 * Checks and scores models on any machine. All integers are little-endian.
 *
 * Input:  length of the model (u32; 2^32 - 1 ends the session), its bytes, number of samples (u16), values per sample
 *         (u32), flags (u8; 1: values are int16 instead of float32, 2: skip the check), the samples.
 * Output: status (u8); if it is BINFM_OK: features (u32), outputs (u16), classes (u16), exponent (i16), and for each
 *         sample its class (u16) and the score of each output (i64).
 */
#include "binfm.h"
#include "io.h"

static uint32_t get_uint(uint8_t bytes)
{
    uint32_t value = 0u;
    uint8_t i;

    for (i = 0u; i < bytes; i++) {
        value |= (uint32_t)get_byte() << (8u * i);
    }
    return value;
}

static void put_int(uint64_t value, uint8_t bytes)
{
    uint8_t i;

    for (i = 0u; i < bytes; i++) {
        put_byte((uint8_t)(value >> (8u * i)));
    }
}

static void put_header(const uint8_t *model)
{
    put_int(binfm_features(model), 4u);
    put_int(binfm_outputs(model), 2u);
    put_int(binfm_classes(model), 2u);
    put_int((uint16_t)binfm_exponent(model), 2u);
}

static binfm_status check(const uint8_t *model, size_t length)
{
    binfm_status status;

    mark_begin();
    status = binfm_check(model, length);
    mark_end();
    return status;
}

static uint16_t predict(const uint8_t *model, uint32_t values, uint8_t is_int16, float *x, uint32_t *active)
{
    uint16_t label;
    uint32_t i;

    if (is_int16 == 0u) {
        for (i = 0u; i < values; i++) {
            binfm_float_of_bits(get_uint(4u), &x[i]);
        }
        mark_begin();
        label = binfm_predict(model, x, active);
    } else {
        for (i = 0u; i < values; i++) {
            ((int16_t *)(void *)x)[i] = (int16_t)(uint16_t)get_uint(2u);
        }
        mark_begin();
        label = binfm_predict_i16(model, (const int16_t *)(const void *)x, active);
    }
    mark_end();
    return label;
}

static void put_scores(const uint8_t *model, const uint32_t *active)
{
    uint16_t output;

    for (output = 0u; output < binfm_outputs(model); output++) {
        put_int((uint64_t)binfm_score(model, active, output), 8u);
    }
}

int main(void)
{
    uint32_t length = get_uint(4u);

    while (length != 0xffffffffu) {
        const uint8_t *model = get_model(length);
        const uint16_t samples = (uint16_t)get_uint(2u);
        const uint32_t values = get_uint(4u);
        const uint8_t flags = get_byte();
        const uint8_t is_int16 = flags & 1u;
        const binfm_status status = ((flags & 2u) != 0u) ? BINFM_OK : check(model, (size_t)length);
        uint32_t skip = (uint32_t)samples * values * ((is_int16 != 0u) ? 2u : 4u);
        uint16_t sample;

        put_byte((uint8_t)status);
        if (status == BINFM_OK) {
            float *x = get_sample(values);
            uint32_t *active = get_active(values);

            put_header(model);
            for (sample = 0u; sample < samples; sample++) {
                put_int(predict(model, values, is_int16, x, active), 2u);
                put_scores(model, active);
            }
            skip = 0u;
        }
        for (; skip > 0u; skip--) {
            (void)get_byte();
        }
        length = get_uint(4u);
    }
    finish();
    return 0;
}
