/* What driver.c needs from a machine: byte I/O, memory for a model, and markers for cycle counting. */
#ifndef IO_H
#define IO_H

#include <stddef.h>
#include <stdint.h>

uint8_t get_byte(void);
void put_byte(uint8_t byte);

/* Read the next `length` bytes of input as a model. */
const uint8_t *get_model(uint32_t length);

/* Buffers for a sample and for its active rows. */
float *get_sample(uint32_t features);
uint32_t *get_active(uint32_t features);

/* Bracket the check of a model or the prediction of a sample. */
void mark_begin(void);
void mark_end(void);

void finish(void);

#endif
