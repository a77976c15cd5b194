/* A forest that emlearn exported, on the machines of tests/c: rows (u16) of int16 in, the class (u8) of each out. */
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
    uint16_t left;
    int i;

    for (left = get_u16(); left > 0; left--) {
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
