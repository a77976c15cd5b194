/*
 * Checks and scores the models that arrive, on any machine.
 *
 * In:  length of a model (u32; 2^32 - 1 ends), its bytes, number of rows (u16), values a row (u32), flags (1: values are
 *      int16 and not float32; 2: do not check the model), the rows.
 * Out: status (u8); if it is BINFM_OK: features (u32), functions (u16), classes (u16), exponent (i16), and for each row
 *      the class (u16) and the score of each function (i64).
 * All little-endian.
 */
#include "binfm.h"
#include "io.h"

static uint32_t get_number(uint8_t bytes)
{
    uint32_t value = 0u;
    uint8_t i;

    for (i = 0u; i < bytes; i++) {
        value |= (uint32_t)get_byte() << (8u * i);
    }
    return value;
}

static void put_number(uint64_t value, uint8_t bytes)
{
    uint8_t i;

    for (i = 0u; i < bytes; i++) {
        put_byte((uint8_t)(value >> (8u * i)));
    }
}

static void put_header(const uint8_t *model)
{
    put_number(binfm_features(model), 4u);
    put_number(binfm_functions(model), 2u);
    put_number(binfm_classes(model), 2u);
    put_number((uint16_t)binfm_exponent(model), 2u);
}

static binfm_status check(const uint8_t *model, size_t length)
{
    binfm_status status;

    mark_begin();
    status = binfm_check(model, length);
    mark_end();
    return status;
}

static uint16_t predict(const uint8_t *model, uint32_t values, uint8_t whole, float *x, uint32_t *active)
{
    uint16_t label;
    uint32_t i;

    if (whole == 0u) {
        for (i = 0u; i < values; i++) {
            binfm_float_of_bits(get_number(4u), &x[i]);
        }
        mark_begin();
        label = binfm_predict(model, x, active);
    } else {
        for (i = 0u; i < values; i++) {
            ((int16_t *)(void *)x)[i] = (int16_t)(uint16_t)get_number(2u);
        }
        mark_begin();
        label = binfm_predict_i16(model, (const int16_t *)(const void *)x, active);
    }
    mark_end();
    return label;
}

static void put_scores(const uint8_t *model, const uint32_t *active)
{
    uint16_t function;

    for (function = 0u; function < binfm_functions(model); function++) {
        put_number((uint64_t)binfm_score(model, active, function), 8u);
    }
}

int main(void)
{
    uint32_t length = get_number(4u);

    while (length != 0xffffffffu) {
        const uint8_t *model = get_model(length);
        const uint16_t rows = (uint16_t)get_number(2u);
        const uint32_t values = get_number(4u);
        const uint8_t flags = get_byte();
        const uint8_t whole = flags & 1u;
        const binfm_status status = ((flags & 2u) != 0u) ? BINFM_OK : check(model, (size_t)length);
        uint32_t skip = (uint32_t)rows * values * ((whole != 0u) ? 2u : 4u);
        uint16_t row;

        put_byte((uint8_t)status);
        if (status == BINFM_OK) {
            float *x = get_row(values);
            uint32_t *active = get_active(values);

            put_header(model);
            for (row = 0u; row < rows; row++) {
                put_number(predict(model, values, whole, x, active), 2u);
                put_scores(model, active);
            }
            skip = 0u;
        }
        for (; skip > 0u; skip--) {
            (void)get_byte();
        }
        length = get_number(4u);
    }
    finish();
    return 0;
}
