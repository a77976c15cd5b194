/* What driver.c needs of a machine: bytes in, bytes out, memory for a model, and a mark for whoever counts cycles. */
#ifndef IO_H
#define IO_H

#include <stddef.h>
#include <stdint.h>

uint8_t get_byte(void);
void put_byte(uint8_t byte);

/* Take the next `length` bytes as a model; returns where they are. */
const uint8_t *get_model(uint32_t length);

/* Memory for a row, and for its active rows. */
float *get_row(uint32_t features);
uint32_t *get_active(uint32_t features);

/* Between these two a model is checked, or a row predicted. */
void mark_begin(void);
void mark_end(void);

void finish(void);

#endif
