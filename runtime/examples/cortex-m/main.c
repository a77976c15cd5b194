/* Recognizes gestures from the sensor of a board; port it by implementing board.h. */
#include "board.h"
#include "gesture.h"

static uint32_t active[BINFM_ACTIVE(GESTURE_FEATURES)];

int main(void)
{
    int16_t x[GESTURE_FEATURES];

    if (gesture_selftest() != BINFM_OK) {
        board_fail();
    }
    while (board_read(x, GESTURE_FEATURES)) {
        board_show(binfm_predict_i16(gesture_model, x, active));
    }
    return 0;
}
