/* I/O of driver.c on an ATmega328P in simulator.c, which serves three registers and writes models into flash. */
#include "io.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

enum { MODEL_AT = 0x4001, MAX_FEATURES = 100 };
enum { BEGIN = 1, END = 2, LOAD = 3 };

static float sample[MAX_FEATURES];
static uint32_t active[MAX_FEATURES + 2];

uint8_t get_byte(void)
{
    return GPIOR1;
}

void put_byte(uint8_t byte)
{
    GPIOR0 = byte;
}

const uint8_t *get_model(uint32_t length)
{
    (void)length;
    GPIOR2 = LOAD;
    return (const uint8_t *)MODEL_AT;
}

float *get_sample(uint32_t features)
{
    return (features > MAX_FEATURES) ? NULL : sample;
}

uint32_t *get_active(uint32_t features)
{
    (void)features;
    return active;
}

void mark_begin(void)
{
    GPIOR2 = BEGIN;
}

void mark_end(void)
{
    GPIOR2 = END;
}

void finish(void)
{
    cli();
    sleep_enable();
    sleep_cpu();
}
