/* A board: a sensor, and something to show a class with. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Take the next row; returns 0 when there is none. */
int board_read(int16_t *x, size_t count);

void board_show(uint16_t label);

void board_fail(void);

#endif
