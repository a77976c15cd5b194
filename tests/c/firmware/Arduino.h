/* As much of Arduino's core as the sketch needs: a sensor that plays three rows, a terminal, and an end. */
#ifndef ARDUINO_H
#define ARDUINO_H

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>

enum { A0 = 14, LED_BUILTIN = 13, OUTPUT = 1, HIGH = 1, ROWS = 3 };

/* Mean and half of the range of each axis, in steps of the converter: g is 67.5 of them, 0 is at 338. */
static const int16_t MEANS[ROWS][3] = {{338, 336, 405}, {381, 339, 390}, {336, 338, 405}};
static const int16_t SWINGS[ROWS][3] = {{2, 1, 1}, {2, 3, 1}, {50, 30, 71}};

static int16_t readings;

static inline int analogRead(int pin)
{
    const int row = readings / 300, axis = pin - A0;
    const int up = readings & 1;

    readings++;
    if (row == ROWS) {
        cli();
        sleep_enable();
        sleep_cpu();
    }
    return MEANS[row][axis] + (up ? SWINGS[row][axis] : -SWINGS[row][axis]);
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
