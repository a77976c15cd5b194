/*
 * libFuzzer on binfm.h: a model that binfm_check accepts must score, and 32-bit words must give the same scores as plain C
 * with 8-bit words (other.c).
 *
 * An input is 64 bytes, from which samples are made, and a model. The mutator repairs its length and checksum, so that most
 * inputs get beyond them.
 */
#include "other.h"

#include <binfm.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_BYTES 64u
#define SMALLEST_FILE 40u
#define LENGTH_AT 6u
#define BODY_AT 10u
#define MAX_FEATURES 4096u
#define MAX_OUTPUTS 64u

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u32(uint8_t *at, uint32_t number)
{
    unsigned i;

    for (i = 0; i < 4u; i++) {
        at[i] = (uint8_t)(number >> (8u * i));
    }
}

static void repair(uint8_t *model, size_t length)
{
    memcpy(model, "\xb1" "FM\n\x01", 5);
    put_u32(model + LENGTH_AT, (uint32_t)length);
    put_u32(model + length - 4u, binfm_checksum(model, length - 4u));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    if (size >= SAMPLE_BYTES + SMALLEST_FILE && seed % 2u == 0u) {
        /* The body alone, at its length: headers stay plausible for longer. */
        const size_t first = SAMPLE_BYTES + BODY_AT, body = size - first - 4u;
        const size_t left = LLVMFuzzerMutate(data + first, body, body);

        memset(data + first + left, 0, body - left);
    } else {
        size = LLVMFuzzerMutate(data, size, max_size);
    }
    if (size >= SAMPLE_BYTES + SMALLEST_FILE && seed % 32u != 31u) {
        repair(data + SAMPLE_BYTES, size - SAMPLE_BYTES);
    }
    return size;
}

static void check_sample(const uint8_t *model, const float *x, uint32_t *active, uint32_t *others)
{
    const uint16_t outputs = binfm_outputs(model);
    uint16_t output;

    binfm_encode(model, x, active);
    other_encode(model, x, others);
    if (memcmp(active, others, (active[0] + 2u) * sizeof *active) != 0) {
        abort();
    }
    for (output = 0; output < outputs && output < MAX_OUTPUTS; output++) {
        if (binfm_score(model, active, output) != other_score(model, active, output)) {
            abort();
        }
    }
    if (binfm_class(model, active) >= binfm_classes(model) && binfm_classes(model) > 0u) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t length = size < SAMPLE_BYTES ? 0u : size - SAMPLE_BYTES;
    uint8_t *model = malloc(length + 1u); /* of its own, so that sanitizers see its end */

    if (model == NULL || length == 0u) {
        free(model);
        return 0;
    }
    memcpy(model, data + SAMPLE_BYTES, length);
    if (binfm_check(model, length) != other_check(model, length)) {
        abort();
    }
    if (binfm_check(model, length) == BINFM_OK && binfm_features(model) <= MAX_FEATURES) {
        const uint32_t features = binfm_features(model);
        float *x = malloc(features * sizeof *x);
        uint32_t *active = malloc((features + 2u) * sizeof *active);
        uint32_t *others = malloc((features + 2u) * sizeof *others);
        uint32_t i;

        for (i = 0; i < features; i++) {
            memcpy(&x[i], data + (i % 16u) * 4u, 4);
        }
        check_sample(model, x, active, others);
        free(x);
        free(active);
        free(others);
    }
    free(model);
    return 0;
}
