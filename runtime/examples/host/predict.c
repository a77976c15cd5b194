/*
 * Scores samples from stdin with a .binfm file:
 *
 *     cc -std=c99 -O2 -I"$(python -c 'import binfm; print(binfm.get_include())')" predict.c -lm -o predict
 *     ./predict gesture.binfm < samples.txt
 *
 * A sample is a line of numbers; `nan` is a missing value. Prints each sample's class and the score of each output.
 */
#include "binfm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)malloc(BINFM_MOST_BYTES);

    *length = (file == NULL || bytes == NULL) ? 0u : fread(bytes, 1, BINFM_MOST_BYTES, file);
    if (file != NULL) {
        fclose(file);
    }
    return bytes;
}

static void print_scores(const uint8_t *model, const uint32_t *active)
{
    uint16_t output;

    printf("%u", (unsigned)binfm_class(model, active));
    for (output = 0; output < binfm_outputs(model); output++) {
        printf(" %.9g", ldexp((double)binfm_score(model, active, output), -binfm_exponent(model)));
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    size_t length, features, filled = 0;
    const char *path = argc > 1 ? argv[1] : "gesture.binfm";
    const uint8_t *model = read_file(path, &length);
    const binfm_status status = binfm_check(model, length);
    uint32_t *active;
    float *x;

    if (status != BINFM_OK) {
        fprintf(stderr, "%s: no model that this program can score (status %d)\n", path, (int)status);
        return 1;
    }
    features = binfm_features(model);
    x = (float *)malloc(features * sizeof *x);
    active = (uint32_t *)malloc(BINFM_ACTIVE(features) * sizeof *active);
    while (x != NULL && active != NULL && scanf("%f", &x[filled]) == 1) {
        filled++;
        if (filled == features) {
            binfm_encode(model, x, active);
            print_scores(model, active);
            filled = 0;
        }
    }
    return filled == 0 ? 0 : 1;
}
