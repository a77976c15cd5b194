/* The part of Arduino's core that the sketch needs: a sensor that replays three samples, a terminal, and an exit. */
#ifndef ARDUINO_H
#define ARDUINO_H

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>

enum { A0 = 14, LED_BUILTIN = 13, OUTPUT = 1, HIGH = 1, REPLAYED = 3 };

/* Mean and half the range of each axis, in ADC counts: 338 is 0 g, and 1 g is 67.5 counts. */
static const int16_t MEANS[REPLAYED][3] = {{338, 336, 405}, {381, 339, 390}, {336, 338, 405}};
static const int16_t SWINGS[REPLAYED][3] = {{2, 1, 1}, {2, 3, 1}, {50, 30, 71}};

static int16_t readings;

static inline int analogRead(int pin)
{
    const int sample = readings / 300, axis = pin - A0;
    const int up = readings & 1;

    readings++;
    if (sample == REPLAYED) {
        cli();
        sleep_enable();
        sleep_cpu();
    }
    return MEANS[sample][axis] + (up ? SWINGS[sample][axis] : -SWINGS[sample][axis]);
}

static inline void digitalWrite(int, int)
{
    for (const char *at = "failed\n"; *at != 0; at++) {
        GPIOR0 = (uint8_t)*at;
    }
    cli();
    sleep_enable();
    sleep_cpu();
}

static inline void pinMode(int, int)
{
}

static inline void delay(int)
{
}

struct Terminal {
    void begin(long)
    {
    }

    void println(const char *text)
    {
        for (; *text != 0; text++) {
            GPIOR0 = (uint8_t)*text;
        }
        GPIOR0 = '\n';
    }
};

static Terminal Serial;

void setup();
void loop();

int main()
{
    setup();
    for (;;) {
        loop();
    }
}

#endif
