/* I/O of driver.c on the host: stdin, stdout, and exact-size buffers, so that sanitizers catch any overrun. */
#include "io.h"

#include <stdio.h>
#include <stdlib.h>

static void *model_memory, *sample_memory, *active_memory;

static void *reallocate(void *memory, size_t bytes)
{
    void *block = malloc(bytes + (bytes == 0));

    free(memory);
    if (block == NULL) {
        exit(3);
    }
    return block;
}

uint8_t get_byte(void)
{
    int byte = getchar();

    if (byte == EOF) {
        exit(4);
    }
    return (uint8_t)byte;
}

void put_byte(uint8_t byte)
{
    putchar(byte);
}

const uint8_t *get_model(uint32_t length)
{
    model_memory = reallocate(model_memory, length);
    if (fread(model_memory, 1, length, stdin) != length) {
        exit(4);
    }
    return (const uint8_t *)model_memory;
}

float *get_sample(uint32_t features)
{
    sample_memory = reallocate(sample_memory, features * sizeof(float));
    return (float *)sample_memory;
}

uint32_t *get_active(uint32_t features)
{
    active_memory = reallocate(active_memory, (features + 2u) * sizeof(uint32_t));
    return (uint32_t *)active_memory;
}

void mark_begin(void)
{
}

void mark_end(void)
{
}

void finish(void)
{
    free(model_memory);
    free(sample_memory);
    free(active_memory);
}
