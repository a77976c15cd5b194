/* Runs a forest exported by emlearn. Input: number of samples (u16), int16 values. Output: the class of each (u8). */
#include "forest.h"
#include "io.h"

static uint16_t get_u16(void)
{
    const uint16_t low = get_byte();

    return (uint16_t)(low | get_byte() << 8);
}

int main(void)
{
    static int16_t x[FEATURES];
    uint16_t remaining;
    int i;

    for (remaining = get_u16(); remaining > 0; remaining--) {
        int32_t label;

        for (i = 0; i < FEATURES; i++) {
            x[i] = (int16_t)get_u16();
        }
        mark_begin();
        label = forest_predict(x, FEATURES);
        mark_end();
        put_byte((uint8_t)label);
    }
    finish();
    return 0;
}
