/* driver.c on the host: stdin and stdout, and memory of exactly the size that is asked for. */
#include "io.h"

#include <stdio.h>
#include <stdlib.h>

static void *model_memory, *row_memory, *active_memory;

static void *again(void *memory, size_t bytes)
{
    void *fresh = malloc(bytes + (bytes == 0));

    free(memory);
    if (fresh == NULL) {
        exit(3);
    }
    return fresh;
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
    model_memory = again(model_memory, length);
    if (fread(model_memory, 1, length, stdin) != length) {
        exit(4);
    }
    return (const uint8_t *)model_memory;
}

float *get_row(uint32_t features)
{
    row_memory = again(row_memory, features * sizeof(float));
    return (float *)row_memory;
}

uint32_t *get_active(uint32_t features)
{
    active_memory = again(active_memory, (features + 2u) * sizeof(uint32_t));
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
    free(row_memory);
    free(active_memory);
}
