/* What a board provides: a sensor and a display. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Read the next sample into x; returns 0 if there are no more. */
int board_read(int16_t *x, size_t count);

void board_show(uint16_t label);

void board_fail(void);

#endif
