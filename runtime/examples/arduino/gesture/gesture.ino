// Recognizes gestures on an Arduino Uno with an analog accelerometer (an ADXL335 on A0, A1 and A2).
//
// To create gesture.h in this folder: python make_model.py gesture

#include "gesture.h"

static const int READINGS = 100;   // per axis
static const float PER_G = 0.33f;  // volts per g
static const char *const NAMES[] = {"shaken", "still", "tilted"};

static uint32_t active[BINFM_ACTIVE(GESTURE_FEATURES)];

void setup()
{
    Serial.begin(9600);
    pinMode(LED_BUILTIN, OUTPUT);
    if (gesture_selftest() != BINFM_OK) {
        digitalWrite(LED_BUILTIN, HIGH);  // the model is damaged or the wrong one
        for (;;) {
        }
    }
}

// Acceleration at an analog pin, in thousandths of g.
static int16_t milli_g(int pin)
{
    return (int16_t)((analogRead(pin) * (5.0f / 1023.0f) - 1.65f) * (1000.0f / PER_G));
}

// Mean and range of the three axes, measured within a second.
static void measure(int16_t *x)
{
    for (int axis = 0; axis < 3; axis++) {
        int32_t sum = 0;
        int16_t low = 32767, high = -32768;
        for (int i = 0; i < READINGS; i++) {
            int16_t g = milli_g(A0 + axis);
            sum += g;
            low = g < low ? g : low;
            high = g > high ? g : high;
            delay(3);
        }
        x[axis] = (int16_t)(sum / READINGS);
        x[3 + axis] = (int16_t)(high - low);
    }
}

void loop()
{
    int16_t x[GESTURE_FEATURES];

    measure(x);
    Serial.println(NAMES[binfm_predict_i16(gesture_model, x, active)]);
}
