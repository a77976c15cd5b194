/*
 * Scores rows with a model file that it reads as it is:
 *
 *     cc -std=c99 -O2 -I"$(python -c 'import binfm; print(binfm.get_include())')" predict.c -lm -o predict
 *     ./predict gesture.binfm < rows.txt
 *
 * A row is a line of numbers; `nan` is a missing value. Prints the class of each row and the score of each function.
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

static void print_row(const uint8_t *model, const uint32_t *active)
{
    uint16_t function;

    printf("%u", (unsigned)binfm_class(model, active));
    for (function = 0; function < binfm_functions(model); function++) {
        printf(" %.9g", ldexp((double)binfm_score(model, active, function), -binfm_exponent(model)));
    }
    putchar('\n');
}

int main(int count, char **arguments)
{
    size_t length, features, at = 0;
    const uint8_t *model = read_file(count > 1 ? arguments[1] : "gesture.binfm", &length);
    const binfm_status status = binfm_check(model, length);
    uint32_t *active;
    float *x;

    if (status != BINFM_OK) {
        fprintf(stderr, "the file is no model that this program can score (status %d)\n", (int)status);
        return 1;
    }
    features = binfm_features(model);
    x = (float *)malloc(features * sizeof *x);
    active = (uint32_t *)malloc(BINFM_ACTIVE(features) * sizeof *active);
    while (x != NULL && active != NULL && scanf("%f", &x[at]) == 1) {
        at++;
        if (at == features) {
            binfm_encode(model, x, active);
            print_row(model, active);
            at = 0;
        }
    }
    return at == 0 ? 0 : 1;
}
