/*
 * binfm.h: scores a binfm model where it lies.
 *
 * A model is the content of a .binfm file: an array in flash, a file that was read, bytes that came by radio. It is
 * read byte by byte, so it may begin at any address, on a machine of any byte order. The score is the same integer as
 * in Python, on every machine.
 *
 *     static uint32_t active[BINFM_ACTIVE(GESTURE_FEATURES)];
 *
 *     if (binfm_check(gesture_model, GESTURE_BYTES) != BINFM_OK) { ... }    once, before anything else
 *     label = binfm_predict(gesture_model, x, active);                      x: float[GESTURE_FEATURES]
 *     score = binfm_score(gesture_model, active, 0);                        in units of 2^-binfm_exponent()
 *
 * NaN is a missing value, a category is its number, a text category is its index among the texts of the feature.
 *
 * C99 and C++98. No floating-point arithmetic, no allocation, no globals, no recursion, no division, nothing of the C
 * library but stddef.h and stdint.h. docs/devices.md states the stack and the time that it takes, docs/file-format.md
 * describes the bytes. Licensed under MIT or Apache-2.0, at your option.
 */
#ifndef BINFM_H
#define BINFM_H

#include <stddef.h>
#include <stdint.h>

/* How a byte of the model is read. On AVR it lies in flash; define BINFM_BYTE beforehand if yours lies elsewhere. */
#ifndef BINFM_BYTE
#ifdef __AVR__
#include <avr/pgmspace.h>
#define BINFM_BYTE(at) pgm_read_byte(at)
#define BINFM_FLASH PROGMEM
#else
#define BINFM_BYTE(at) (*(at))
#endif
#endif
#ifndef BINFM_FLASH
#define BINFM_FLASH
#endif

/* Columns that are counted at a time: 8 or 32, as many as a register holds. */
#ifndef BINFM_WORD_BITS
#ifdef __AVR__
#define BINFM_WORD_BITS 8u
#else
#define BINFM_WORD_BITS 32u
#endif
#endif

/* What to inline was measured: to save flash, compilers inline too little here, and there so much that they spill. */
#if defined(__GNUC__) && !defined(BINFM_PLAIN_C)
#define BINFM_SMALL static inline __attribute__((always_inline))
#define BINFM_LARGE static __attribute__((noinline, unused))
#else
#define BINFM_SMALL static inline
#define BINFM_LARGE static inline
#endif

/* What binfm_check finds. */
typedef enum {
    BINFM_OK = 0,
    BINFM_BAD_LENGTH,   /* the length is not the one that the model says it has */
    BINFM_BAD_MAGIC,    /* this is no model */
    BINFM_BAD_VERSION,  /* a format that this runtime does not know */
    BINFM_BAD_CHECKSUM, /* the model is damaged */
    BINFM_BAD_FORMAT,   /* a rule of the format is broken */
    BINFM_TOO_LARGE,    /* a sound model, but beyond the limits of this runtime */
    BINFM_BAD_SCORE     /* self-test: a score is not the one that Python gave */
} binfm_status;

/*
 * The limits: a file of less than 4 MB; A, the most rows that can be active, up to 65,535; m * A^2 below 2^32; and the
 * pair term of every score below 2^61, so that scores fit 64 bits.
 */
#define BINFM_MOST_BYTES 0x3fffffu
#define BINFM_MOST_ROWS 0xffffffu
#define BINFM_MOST_ACTIVE 0xffffu
#define BINFM_SCORE_BITS 61u

/* Size of the array that takes the active rows: how many features are active, where the bits begin, a start each. */
#define BINFM_ACTIVE(features) ((features) + 2u)

/* The file: docs/file-format.md. */
#define BINFM_MAGIC 0x0a4d46b1u
#define BINFM_VERSION 1u
#define BINFM_MOST_SHIFT 24u
#define BINFM_MOST_EXPONENT 1022
#define BINFM_AT_VERSION 4u
#define BINFM_AT_FLAGS 5u
#define BINFM_AT_LENGTH 6u
#define BINFM_AT_FEATURES 10u
#define BINFM_AT_FACTORS 14u
#define BINFM_AT_FUNCTIONS 16u
#define BINFM_AT_TILINGS 18u
#define BINFM_AT_LOSS 19u
#define BINFM_AT_SHIFT_A 20u
#define BINFM_AT_SHIFT_C 21u
#define BINFM_AT_SHIFT_BIAS 22u
#define BINFM_AT_EXPONENT 23u
#define BINFM_AT_SCALES 25u
#define BINFM_SCALE_BYTES 8u
#define BINFM_CHECKSUM_BYTES 4u
/* Flags of the file. */
#define BINFM_ZERO_IS_ABSENT 1u
#define BINFM_HAS_LABELS 2u
/* The first byte of a feature: kind, copies, missing cell; the width of its numbers is in the upper four bits. */
#define BINFM_KIND 3u
#define BINFM_NUMERIC 1u
#define BINFM_TEXT 3u
#define BINFM_COPIES 4u
#define BINFM_MISSING 8u
#define BINFM_REGRESSION 3u

/* Reading */

BINFM_SMALL uint16_t binfm_u16(const uint8_t *at)
{
    return (uint16_t)(BINFM_BYTE(at) | ((uint16_t)BINFM_BYTE(at + 1) << 8));
}

BINFM_LARGE uint32_t binfm_u32(const uint8_t *at)
{
    return binfm_u16(at) | ((uint32_t)binfm_u16(at + 2) << 16);
}

/* An unsigned number of up to 4 bytes. */
BINFM_SMALL uint32_t binfm_unsigned(const uint8_t *at, uint_fast8_t width)
{
    uint32_t value = 0u;
    uint_fast8_t i;

    for (i = width; i > 0u; i--) {
        value = (value << 8) | BINFM_BYTE(at + (i - 1u));
    }
    return value;
}

/* A signed number of 1 to 8 bytes. */
BINFM_LARGE int64_t binfm_signed(const uint8_t *at, uint_fast8_t width)
{
    uint64_t value = ((BINFM_BYTE(at + (width - 1u)) & 0x80u) != 0u) ? ~(uint64_t)0 : 0u;
    uint_fast8_t i;

    for (i = width; i > 0u; i--) {
        value = (value << 8) | BINFM_BYTE(at + (i - 1u));
    }
    return (int64_t)value;
}

/* A count that was checked; returns what follows it. */
BINFM_SMALL const uint8_t *binfm_read_count(const uint8_t *at, size_t *count)
{
    const uint8_t *next = at + 1;
    uint_fast8_t byte = BINFM_BYTE(at);
    uint_fast8_t shift = 0u;

    *count = byte & 0x7fu;
    while (byte >= 0x80u) {
        byte = BINFM_BYTE(next);
        next++;
        shift = (uint_fast8_t)(shift + 7u);
        *count |= (size_t)(byte & 0x7fu) << shift;
    }
    return next;
}

/* What the header says */

/* Number of values in a row. */
static inline uint32_t binfm_features(const uint8_t *model)
{
    return binfm_u32(model + BINFM_AT_FEATURES);
}

/* Number of score functions: one for two classes and for regression, else one a class. */
static inline uint16_t binfm_functions(const uint8_t *model)
{
    return binfm_u16(model + BINFM_AT_FUNCTIONS);
}

/* Number of classes; regression has none. */
static inline uint16_t binfm_classes(const uint8_t *model)
{
    const uint16_t functions = binfm_functions(model);

    if (functions > 1u) {
        return functions;
    }
    return (BINFM_BYTE(model + BINFM_AT_LOSS) == BINFM_REGRESSION) ? 0u : 2u;
}

/* The unit of scores is 2 to the power of minus this. */
static inline int16_t binfm_exponent(const uint8_t *model)
{
    return (int16_t)binfm_u16(model + BINFM_AT_EXPONENT);
}

/* Bits of all score functions in a parameter row. */
BINFM_SMALL uint32_t binfm_row_bits(const uint8_t *model)
{
    return binfm_functions(model) * ((uint32_t)binfm_u16(model + BINFM_AT_FACTORS) + 1u);
}

/* From values to active rows. A value goes by the bits of its float32. */

#if defined(__GNUC__) && !defined(BINFM_PLAIN_C)
typedef uint32_t __attribute__((may_alias)) binfm_float_bits;

BINFM_SMALL uint32_t binfm_bits_of_float(const float *x)
{
    return *(const binfm_float_bits *)x;
}

BINFM_SMALL void binfm_float_of_bits(uint32_t bits, float *x)
{
    *(binfm_float_bits *)x = bits;
}
#else
static inline void binfm_copy_4(const unsigned char *from, unsigned char *to)
{
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
}

static inline uint32_t binfm_bits_of_float(const float *x)
{
    uint32_t bits = 0u;

    binfm_copy_4((const unsigned char *)x, (unsigned char *)&bits);
    return bits;
}

static inline void binfm_float_of_bits(uint32_t bits, float *x)
{
    binfm_copy_4((const unsigned char *)&bits, (unsigned char *)x);
}
#endif

/* The bits of the float that is equal to a whole number. */
static inline uint32_t binfm_bits_of_i16(int16_t x)
{
    const uint32_t sign = (x < 0) ? 0x80000000u : 0u;
    uint16_t size = (uint16_t)((x < 0) ? (0u - (uint16_t)x) : (uint16_t)x);
    uint_fast8_t exponent = 127u + 15u;

    if (size == 0u) {
        return 0u;
    }
    while ((size & 0x8000u) == 0u) {
        size = (uint16_t)(size << 1);
        exponent--;
    }
    return sign | ((uint32_t)exponent << 23) | ((uint32_t)(size & 0x7fffu) << 8);
}

/* NaN and zero are nearly always told by the upper byte, and four bytes are much for a small processor. */
BINFM_SMALL uint_fast8_t binfm_is_nan(uint32_t bits)
{
    const uint8_t upper = (uint8_t)(bits >> 24);

    return (((upper & 0x7fu) == 0x7fu) && ((bits & 0xffffffu) > 0x800000u)) ? 1u : 0u;
}

BINFM_SMALL uint_fast8_t binfm_is_zero(uint32_t bits)
{
    const uint8_t upper = (uint8_t)(bits >> 24);

    return (((upper & 0x7fu) == 0u) && ((bits & 0xffffffu) == 0u)) ? 1u : 0u;
}

/* The number of edges that are not above a key. Nearly all features have fewer than 256 edges of two bytes... */
BINFM_SMALL size_t binfm_find_short(const uint8_t *edges, uint_fast8_t count, uint16_t key)
{
    uint_fast8_t low = 0u;
    uint_fast8_t high = count;

    while (low < high) {
        const uint_fast8_t middle = (uint_fast8_t)(low + ((uint_fast8_t)(high - low) >> 1));

        if (binfm_u16(edges + (2u * (size_t)middle)) > key) {
            high = middle;
        } else {
            low = (uint_fast8_t)(middle + 1u);
        }
    }
    return low;
}

/* ... or a few edges of one byte. */
BINFM_LARGE size_t binfm_find_byte(const uint8_t *edges, size_t count, uint_fast8_t key)
{
    size_t low = 0u;

    while ((low < count) && (BINFM_BYTE(edges + low) <= key)) {
        low++;
    }
    return low;
}

BINFM_LARGE size_t binfm_find(const uint8_t *edges, size_t count, uint_fast8_t width, uint32_t key)
{
    size_t low = 0u;
    size_t high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2u;

        if (binfm_unsigned(edges + (middle * width), width) > key) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

/* The cell of a number. */
BINFM_SMALL size_t binfm_interval(const uint8_t *edges, size_t count, uint_fast8_t width, uint32_t bits)
{
    const uint32_t key = ((bits & 0x80000000u) != 0u) ? ~bits : (bits | 0x80000000u);

    if ((width == 2u) && (count < 256u)) {
        return binfm_find_short(edges, (uint_fast8_t)count, (uint16_t)(key >> 16));
    }
    if (width == 1u) {
        return binfm_find_byte(edges, count, (uint_fast8_t)(key >> 24));
    }
    return (count == 0u) ? 0u : binfm_find(edges, count, width, key >> (uint_fast8_t)(32u - (8u * width)));
}

#define BINFM_NONE ((size_t)-1)
#define BINFM_NOT_WHOLE ((int64_t)((uint64_t)1 << 63))

/* A whole number from below 2^63 in size, else BINFM_NOT_WHOLE. */
static inline int64_t binfm_whole(uint32_t bits)
{
    const uint_fast8_t exponent = (uint_fast8_t)((bits >> 23) & 0xffu);
    uint32_t digits = (bits & 0x7fffffu) | 0x800000u;
    uint_fast8_t shift = 0u;
    int64_t value;

    if (bits == 0u) {
        return 0;
    }
    if ((exponent < 127u) || (exponent >= (127u + 63u))) {
        return BINFM_NOT_WHOLE;
    }
    if (exponent < (127u + 23u)) {
        const uint_fast8_t fraction = (uint_fast8_t)((127u + 23u) - exponent);

        if ((digits & (((uint32_t)1 << fraction) - 1u)) != 0u) {
            return BINFM_NOT_WHOLE;
        }
        digits >>= fraction;
    } else {
        shift = (uint_fast8_t)(exponent - (127u + 23u));
    }
    value = (int64_t)((uint64_t)digits << shift);
    return ((bits & 0x80000000u) != 0u) ? -value : value;
}

/* The cell of a category, or BINFM_NONE. Width 0: the levels are 0, 1, 2, and so on. */
BINFM_LARGE size_t binfm_category(const uint8_t *levels, size_t count, uint_fast8_t width, uint32_t bits)
{
    const int64_t value = binfm_whole(bits);
    size_t low = 0u;
    size_t high = count;

    if (width == 0u) {
        return ((value >= 0) && (value < (int64_t)count)) ? (size_t)value : BINFM_NONE;
    }
    while ((low < high) && (value != BINFM_NOT_WHOLE)) {
        const size_t middle = (low + high) / 2u;
        const int64_t level = binfm_signed(levels + (middle * width), width);

        if (level == value) {
            return middle;
        }
        if (level > value) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return BINFM_NONE;
}

/* The cell of a value that is not NaN, or BINFM_NONE. */
BINFM_SMALL size_t binfm_cell(const uint8_t *numbers, size_t count, uint_fast8_t tag, uint32_t value,
                              uint_fast8_t flags)
{
    const uint_fast8_t is_zero = binfm_is_zero(value);
    const uint32_t bits = (is_zero != 0u) ? 0u : value; /* -0.0 is 0.0 */

    if ((tag & BINFM_KIND) != BINFM_NUMERIC) {
        return binfm_category(numbers, count, (uint_fast8_t)(tag >> 4), bits);
    }
    if ((is_zero != 0u) && ((flags & BINFM_ZERO_IS_ABSENT) != 0u)) {
        return BINFM_NONE;
    }
    return binfm_interval(numbers, count, (uint_fast8_t)(tag >> 4), bits);
}

/* What follows the texts of a feature. */
BINFM_LARGE const uint8_t *binfm_skip_texts(const uint8_t *texts, size_t count)
{
    const uint8_t *at = texts;
    size_t i;

    for (i = 0u; i < count; i++) {
        size_t bytes;

        at = binfm_read_count(at, &bytes);
        at += bytes;
    }
    return at;
}

/* What encoding carries from one feature to the next. */
typedef struct {
    const uint8_t *at; /* the next feature */
    uint32_t *start;   /* where its start goes */
    size_t row;        /* its first parameter row */
    uint32_t row_size; /* of a parameter row, in 1/32 bit: in 1/256 byte */
    uint_fast8_t tilings;
    uint_fast8_t flags;
} binfm_encoder;

/* Take the value of the next feature. */
BINFM_SMALL void binfm_encode_value(binfm_encoder *encoder, uint32_t value)
{
    const uint_fast8_t tag = BINFM_BYTE(encoder->at);
    const uint8_t *numbers;
    size_t count;
    size_t cell;
    size_t rows;

    encoder->at++;
    if (tag == 0u) {
        return;
    }
    numbers = binfm_read_count(encoder->at, &count);
    rows = count;
    if ((tag & BINFM_KIND) != BINFM_NUMERIC) {
        rows--;
    }
    if ((tag & BINFM_COPIES) != 0u) {
        rows *= encoder->tilings;
    }
    rows += encoder->tilings;
    if (binfm_is_nan(value) != 0u) {
        cell = ((tag & BINFM_MISSING) != 0u) ? rows : BINFM_NONE;
    } else {
        cell = binfm_cell(numbers, count, tag, value, encoder->flags);
        if (((tag & BINFM_COPIES) != 0u) && (cell != BINFM_NONE)) {
            cell *= encoder->tilings;
        }
    }
    if (cell != BINFM_NONE) {
        *encoder->start = (uint32_t)(encoder->row + cell) * encoder->row_size;
        encoder->start++;
    }
    encoder->row += rows;
    if ((tag & BINFM_MISSING) != 0u) {
        encoder->row += encoder->tilings;
    }
    encoder->at = numbers + (count * (uint8_t)(tag >> 4));
    if ((tag & BINFM_KIND) == BINFM_TEXT) {
        encoder->at = binfm_skip_texts(numbers, count);
    }
}

/* Find the active rows of floats, or of whole numbers. */
BINFM_SMALL void binfm_encode_row(const uint8_t *model, const float *floats, const int16_t *numbers,
                                  uint_fast8_t whole, uint32_t *active)
{
    const size_t features = (size_t)binfm_features(model);
    binfm_encoder encoder;
    size_t i;

    encoder.at = model + BINFM_AT_SCALES + ((size_t)BINFM_SCALE_BYTES * binfm_functions(model));
    encoder.start = active + 2u;
    encoder.row = 0u;
    encoder.row_size = binfm_row_bits(model) << 5;
    encoder.tilings = BINFM_BYTE(model + BINFM_AT_TILINGS);
    encoder.flags = BINFM_BYTE(model + BINFM_AT_FLAGS);
    for (i = 0u; i < features; i++) {
        binfm_encode_value(&encoder, (whole != 0u) ? binfm_bits_of_i16(numbers[i]) : binfm_bits_of_float(&floats[i]));
    }
    active[0] = (uint32_t)(size_t)(encoder.start - active) - 2u;
    active[1] = (uint32_t)(size_t)(encoder.at - model);
}

/* Find the rows that a row of floats activates. */
BINFM_LARGE void binfm_encode(const uint8_t *model, const float *x, uint32_t *active)
{
    binfm_encode_row(model, x, NULL, 0u, active);
}

/* The same for whole numbers; scores are those of equal floats. */
BINFM_LARGE void binfm_encode_i16(const uint8_t *model, const int16_t *x, uint32_t *active)
{
    binfm_encode_row(model, NULL, x, 1u, active);
}

/*
 * From active rows to a score. If c of the A active rows are +1 in a column, and A - c are -1, then c * (A - c) pairs
 * of rows disagree there. Q is the number of pairs that agree less the number that disagree, over all m columns:
 *
 *     Q = m * A * (A - 1) / 2  -  2 * sum of c * (A - c)
 */

/* Where the rows of one score function are. */
typedef struct {
    const uint8_t *bits;
    size_t step_bytes;      /* from a row to the next: so many bytes */
    uint_fast8_t step_bits; /* and so many bits, less than 8 */
    uint_fast8_t first;     /* from the start of a row to the bits of this function, less than 8 */
    uint_fast8_t tilings;
} binfm_rows;

/* Eight lanes count in bytes: lane i the columns i, i + 8, i + 16 and i + 24 of a word. */
#define BINFM_LANES 8u
#define BINFM_LANE_MOST 255u
#if BINFM_WORD_BITS == 8u
typedef uint8_t binfm_word;
#define BINFM_COUNT(lane, word, bit)      \
    if (((word) & (1u << (bit))) != 0u) { \
        (lane)++;                         \
    }
#else
typedef uint32_t binfm_word;
#define BINFM_COUNT(lane, word, bit) (lane) += ((word) >> (bit)) & 0x01010101u;
#endif

/*
 * The word behind a bit of a byte, and whether that bit is set. In the last row this reads up to four bytes behind the
 * bits. They are there: the checksum has four.
 */
BINFM_SMALL binfm_word binfm_load(const uint8_t *at, uint_fast8_t bit, uint_fast8_t *set)
{
#if BINFM_WORD_BITS == 8u
    uint8_t scale = 0x80u; /* a product is a shift by any number of bits, in two cycles */
    uint16_t low;

    if ((bit & 1u) != 0u) {
        scale >>= 1;
    }
    if ((bit & 2u) != 0u) {
        scale >>= 2;
    }
    if ((bit & 4u) != 0u) {
        scale >>= 4;
    }
    low = (uint16_t)((uint16_t)BINFM_BYTE(at) * scale);
    *set = ((low & 0x80u) != 0u) ? 1u : 0u;
    return (uint8_t)((low >> 8) | (uint8_t)(BINFM_BYTE(at + 1) * scale));
#else
    const uint32_t low = binfm_u16(at) | ((uint32_t)binfm_u16(at + 2) << 16);

    *set = (uint_fast8_t)((low >> bit) & 1u);
    return (low >> (bit + 1u)) | ((uint32_t)BINFM_BYTE(at + 4) << (31u - bit));
#endif
}

/*
 * Count +1 in the rows of some features, BINFM_LANE_MOST rows at most: by column into the lanes, and in the bit before
 * the first column, which is w where the first column is the first factor.
 */
BINFM_LARGE uint_fast8_t binfm_count(const binfm_rows *rows, const uint32_t *starts, uint_fast8_t features,
                                     binfm_word *lane)
{
    binfm_word c0 = 0u;
    binfm_word c1 = 0u;
    binfm_word c2 = 0u;
    binfm_word c3 = 0u;
    binfm_word c4 = 0u;
    binfm_word c5 = 0u;
    binfm_word c6 = 0u;
    binfm_word c7 = 0u;
    const size_t step_bytes = rows->step_bytes;
    const uint_fast8_t step_bits = rows->step_bits;
    const uint8_t *bits = rows->bits;
    const uint32_t *start = starts;
    uint_fast8_t before = 0u;
    uint_fast8_t i;

    for (i = features; i > 0u; i--) {
        const uint8_t *at = bits + (size_t)(*start >> 8);
        uint_fast8_t bit = (uint_fast8_t)(((uint8_t)*start >> 5) + rows->first);
        uint_fast8_t left = rows->tilings;

        start++;
        for (;;) {
            binfm_word word;
            uint_fast8_t set;

            if (bit > 7u) {
                bit = (uint_fast8_t)(bit - 8u);
                at++;
            }
            word = binfm_load(at, bit, &set);
            if (set != 0u) {
                before++;
            }
            BINFM_COUNT(c0, word, 0) BINFM_COUNT(c1, word, 1) BINFM_COUNT(c2, word, 2) BINFM_COUNT(c3, word, 3)
            BINFM_COUNT(c4, word, 4) BINFM_COUNT(c5, word, 5) BINFM_COUNT(c6, word, 6) BINFM_COUNT(c7, word, 7)
            left--;
            if (left == 0u) {
                break;
            }
            at += step_bytes;
            bit = (uint_fast8_t)(bit + step_bits);
        }
    }
    lane[0] = c0;
    lane[1] = c1;
    lane[2] = c2;
    lane[3] = c3;
    lane[4] = c4;
    lane[5] = c5;
    lane[6] = c6;
    lane[7] = c7;
    return before;
}

/* The count of a column. */
BINFM_SMALL uint_fast8_t binfm_column(const binfm_word *lane, uint_fast8_t column)
{
#if BINFM_WORD_BITS == 8u
    return lane[column];
#else
    return (uint_fast8_t)((lane[column % BINFM_LANES] >> (column & 24u)) & 0xffu);
#endif
}

#if BINFM_WORD_BITS == 8u
/* Pairs that disagree in so many columns, where lanes can count all rows: an 8-bit processor is glad of it. */
BINFM_LARGE uint32_t binfm_disagree_few(const binfm_rows *rows, const uint32_t *active, uint_fast8_t columns,
                                        uint_fast16_t *before)
{
    const uint_fast8_t features = (uint_fast8_t)active[0];
    const uint_fast8_t all = (uint_fast8_t)(features * rows->tilings);
    binfm_word lane[BINFM_LANES];
    uint32_t pairs = 0u;
    uint_fast8_t i;

    *before = binfm_count(rows, active + 2u, features, lane);
    for (i = 0u; i < columns; i++) {
        const uint_fast8_t count = binfm_column(lane, i);

        pairs += (uint16_t)((uint16_t)count * (uint_fast8_t)(all - count));
    }
    return pairs;
}
#endif

/* The same for any number of rows: in blocks of as many features as lanes can count. */
BINFM_LARGE uint32_t binfm_disagree(const binfm_rows *rows, const uint32_t *active, uint_fast8_t columns,
                                    uint_fast16_t *before)
{
    const uint_fast16_t features = (uint_fast16_t)active[0];
    const uint_fast16_t all = (uint_fast16_t)(features * rows->tilings);
    uint_fast8_t block = 1u;
    uint_fast16_t done = 0u;
    uint16_t total[BINFM_WORD_BITS];
    binfm_word lane[BINFM_LANES];
    uint32_t pairs = 0u;
    uint_fast8_t i;

    while (((uint_fast16_t)block * rows->tilings) <= (BINFM_LANE_MOST / 2u)) {
        block = (uint_fast8_t)(2u * block);
    }
    *before = 0u;
    do { /* once where no feature is active: all counts are 0 */
        const uint_fast8_t now = ((features - done) < block) ? (uint_fast8_t)(features - done) : block;

        *before = (uint_fast16_t)(*before + binfm_count(rows, active + (2u + done), now, lane));
        for (i = 0u; i < columns; i++) {
            total[i] = (uint16_t)(((done == 0u) ? 0u : total[i]) + binfm_column(lane, i));
        }
        done = (uint_fast16_t)(done + now);
    } while (done < features);
    for (i = 0u; i < columns; i++) {
        pairs += (uint32_t)total[i] * (uint16_t)(all - total[i]);
    }
    return pairs;
}

/* L and Q of one score function. */
BINFM_SMALL void binfm_terms(const uint8_t *model, const uint32_t *active, uint16_t function, int32_t *L, int32_t *Q)
{
    const uint16_t factors = binfm_u16(model + BINFM_AT_FACTORS);
    const uint32_t row_bits = binfm_row_bits(model);
    const uint32_t first = (uint32_t)function * (factors + (uint32_t)1);
    uint32_t disagree = 0u;
    uint_fast16_t left = factors;
    uint_fast16_t before;
    uint_fast16_t all;
    binfm_rows rows;

    rows.bits = model + (size_t)active[1] + (size_t)(first >> 3);
    rows.step_bytes = (size_t)(row_bits >> 3);
    rows.step_bits = (uint_fast8_t)(row_bits & 7u);
    rows.first = (uint_fast8_t)(first & 7u);
    rows.tilings = BINFM_BYTE(model + BINFM_AT_TILINGS);
    all = (uint_fast16_t)(active[0] * rows.tilings);
    while (left > 0u) {
        const uint_fast8_t columns = (uint_fast8_t)((left < BINFM_WORD_BITS) ? left : BINFM_WORD_BITS);

#if BINFM_WORD_BITS == 8u
        if (all <= BINFM_LANE_MOST) {
            disagree += binfm_disagree_few(&rows, active, columns, &before);
        } else
#endif
        {
            disagree += binfm_disagree(&rows, active, columns, &before);
        }
        if (left == factors) {
            *L = (int32_t)(2u * (uint32_t)before) - (int32_t)all;
        }
        rows.bits += BINFM_WORD_BITS / 8u;
        left = (uint_fast16_t)(left - columns);
    }
    *Q = (int32_t)((((uint32_t)all * ((uint32_t)all - 1u)) / 2u) * factors) - (int32_t)(2u * disagree);
}

/* The score of a function, in units of 2^-binfm_exponent(). */
BINFM_LARGE int64_t binfm_score(const uint8_t *model, const uint32_t *active, uint16_t function)
{
    const uint8_t *scales = model + BINFM_AT_SCALES + ((size_t)BINFM_SCALE_BYTES * function);
    int32_t L = 0;
    int32_t Q;
    uint64_t score;

    binfm_terms(model, active, function, &L, &Q);
    score = (uint64_t)(int64_t)(int32_t)binfm_u32(scales) << BINFM_BYTE(model + BINFM_AT_SHIFT_BIAS);
    score += (uint64_t)((int64_t)binfm_u16(scales + 4) * L) << BINFM_BYTE(model + BINFM_AT_SHIFT_A);
    score += (uint64_t)((int64_t)binfm_u16(scales + 6) * Q) << BINFM_BYTE(model + BINFM_AT_SHIFT_C);
    return (int64_t)score;
}

/* The class with the greatest score, of equals the first; of two classes the second if the score is above 0. It says
 * nothing where there are no classes. */
static inline uint16_t binfm_class(const uint8_t *model, const uint32_t *active)
{
    const uint16_t functions = binfm_functions(model);
    int64_t best = binfm_score(model, active, 0u);
    uint16_t winner = 0u;
    uint16_t i;

    if (functions == 1u) {
        return (best > 0) ? 1u : 0u;
    }
    for (i = 1u; i < functions; i++) {
        const int64_t score = binfm_score(model, active, i);

        if (score > best) {
            best = score;
            winner = i;
        }
    }
    return winner;
}

/* The class of a row of floats. */
static inline uint16_t binfm_predict(const uint8_t *model, const float *x, uint32_t *active)
{
    binfm_encode(model, x, active);
    return binfm_class(model, active);
}

/* The class of a row of whole numbers. */
static inline uint16_t binfm_predict_i16(const uint8_t *model, const int16_t *x, uint32_t *active)
{
    binfm_encode_i16(model, x, active);
    return binfm_class(model, active);
}

/*
 * Checking. The functions go over a piece of the file and return what follows it, or NULL if it breaks a rule. `end` is
 * where the checksum begins: its four bytes may be read, and a count of up to five bytes is, before it is known to end.
 */

static inline uint32_t binfm_left(const uint8_t *at, const uint8_t *end)
{
    return (uint32_t)(size_t)(end - at);
}

/* So many numbers. */
static inline const uint8_t *binfm_check_room(const uint8_t *at, const uint8_t *end, uint32_t count,
                                              uint_fast8_t width)
{
    const uint32_t left = binfm_left(at, end);

    return ((count <= left) && ((count * width) <= left)) ? (at + (size_t)(count * width)) : NULL;
}

BINFM_LARGE const uint8_t *binfm_check_count(const uint8_t *at, const uint8_t *end, uint32_t *count)
{
    uint_fast8_t size = 0u;
    uint_fast8_t byte;

    *count = 0u;
    if (at == end) {
        return NULL;
    }
    do {
        byte = BINFM_BYTE(at + size);
        *count |= (uint32_t)(byte & 0x7fu) << (uint_fast8_t)(7u * size);
        size++;
    } while ((byte >= 0x80u) && (size < 5u));
    if ((byte >= 0x80u) || ((byte == 0u) && (size > 1u)) || ((byte > 0x0fu) && (size == 5u))) {
        return NULL;
    }
    return binfm_check_room(at, end, size, 1u);
}

/* Edges ascend, and none is a NaN. */
static inline uint_fast8_t binfm_check_edges(const uint8_t *edges, uint32_t count, uint_fast8_t width)
{
    const uint8_t *at = edges;
    uint32_t before = 0x7ffffeu; /* below the key of -inf there are NaN, and above that of inf */
    uint32_t i;

    for (i = 0u; i < count; i++) {
        const uint32_t edge = binfm_unsigned(at, width) << (uint_fast8_t)(32u - (8u * width));

        if ((edge <= before) || (edge > 0xff800000u)) {
            return 0u;
        }
        before = edge;
        at += width;
    }
    return 1u;
}

/* Whole numbers ascend; or float64 numbers do, whose bits are whole numbers, the negative ones in reverse. */
static inline uint_fast8_t binfm_ascend(const uint8_t *numbers, uint32_t count, uint_fast8_t width,
                                        uint_fast8_t is_float)
{
    const uint8_t *at = numbers;
    int64_t before = 0;
    uint32_t i;

    for (i = 0u; i < count; i++) {
        int64_t number = binfm_signed(at, width);

        if ((is_float != 0u) && (number < 0)) {
            number = (int64_t)(((uint64_t)1 << 63) - (uint64_t)number); /* -0.0 becomes 0.0 */
        }
        if ((i > 0u) && (number <= before)) {
            return 0u;
        }
        before = number;
        at += width;
    }
    return 1u;
}

/* Whether a signed number fits half of its bytes. */
static inline uint_fast8_t binfm_is_short(const uint8_t *number, uint_fast8_t width)
{
    return (binfm_signed(number, width) == binfm_signed(number, (uint_fast8_t)(width / 2u))) ? 1u : 0u;
}

/* Numbers ascend. Floats are finite; whole numbers do not all fit fewer bytes, and are not 0, 1, 2, and so on. */
BINFM_LARGE uint_fast8_t binfm_check_numbers(const uint8_t *numbers, uint32_t count, uint_fast8_t width,
                                             uint_fast8_t is_float)
{
    const uint8_t *last = numbers + (size_t)((count - 1u) * width);

    if (binfm_ascend(numbers, count, width, is_float) == 0u) {
        return 0u;
    }
    if (is_float != 0u) { /* in their order, what is not finite comes first or last */
        const uint16_t all = 0x7ff0u;

        return (((binfm_u16(numbers + 6) & all) != all) && ((binfm_u16(last + 6) & all) != all)) ? 1u : 0u;
    }
    if ((width > 1u) && (binfm_is_short(numbers, width) != 0u) && (binfm_is_short(last, width) != 0u)) {
        return 0u;
    }
    return ((binfm_signed(numbers, width) != 0) || (binfm_signed(last, width) != ((int64_t)count - 1))) ? 1u : 0u;
}

/* The bytes of the UTF-8 character at a place, 0 if there is none. */
static inline uint_fast8_t binfm_character(const uint8_t *at, uint32_t left)
{
    const uint_fast8_t lead = BINFM_BYTE(at);
    uint_fast8_t low = 0x80u;
    uint_fast8_t high = 0xbfu;
    uint_fast8_t size = 1u;
    uint_fast8_t i;

    if (lead >= 0x80u) {
        size = (uint_fast8_t)((lead < 0xe0u) ? 2u : ((lead < 0xf0u) ? 3u : 4u));
        low = (uint_fast8_t)((lead == 0xe0u) ? 0xa0u : ((lead == 0xf0u) ? 0x90u : 0x80u)); /* not too long a form, */
        high = (uint_fast8_t)((lead == 0xedu) ? 0x9fu : ((lead == 0xf4u) ? 0x8fu : 0xbfu)); /* surrogate or too far */
        if ((lead < 0xc2u) || (lead > 0xf4u) || (size > left)) {
            return 0u;
        }
    }
    for (i = 1u; i < size; i++) {
        const uint_fast8_t byte = BINFM_BYTE(at + i);

        if ((byte < low) || (byte > high)) {
            return 0u;
        }
        low = 0x80u;
        high = 0xbfu;
    }
    return size;
}

/* Whether the second text is above the first, byte by byte. */
static inline uint_fast8_t binfm_above(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
    uint32_t i = 0u;

    while ((i < a_size) && (i < b_size) && (BINFM_BYTE(a + i) == BINFM_BYTE(b + i))) {
        i++;
    }
    if ((i == a_size) || (i == b_size)) {
        return (b_size > a_size) ? 1u : 0u;
    }
    return (BINFM_BYTE(b + i) > BINFM_BYTE(a + i)) ? 1u : 0u;
}

/* Texts are UTF-8 and ascend. */
BINFM_LARGE const uint8_t *binfm_check_texts(const uint8_t *texts, const uint8_t *end, uint32_t count)
{
    const uint8_t *at = texts;
    const uint8_t *before = NULL;
    uint32_t before_size = 0u;
    uint32_t i;

    for (i = 0u; i < count; i++) {
        uint32_t done = 0u;
        uint32_t size;

        at = binfm_check_count(at, end, &size);
        if ((at == NULL) || (size > binfm_left(at, end))) {
            return NULL;
        }
        if ((i > 0u) && (binfm_above(before, before_size, at, size) == 0u)) {
            return NULL;
        }
        while (done < size) {
            const uint_fast8_t bytes = binfm_character(at + done, size - done);

            if (bytes == 0u) {
                return NULL;
            }
            done += bytes;
        }
        before = at;
        before_size = size;
        at += size;
    }
    return at;
}

/* Whether whole numbers have as many bytes. */
static inline uint_fast8_t binfm_is_width(uint_fast8_t width)
{
    return ((width == 1u) || (width == 2u) || (width == 4u) || (width == 8u)) ? 1u : 0u;
}

/* Edges or levels of a feature. */
static inline const uint8_t *binfm_check_values(const uint8_t *at, const uint8_t *end, uint_fast8_t tag,
                                                uint32_t count)
{
    const uint_fast8_t kind = (uint_fast8_t)(tag & BINFM_KIND);
    const uint_fast8_t width = (uint_fast8_t)(tag >> 4);
    const uint8_t *next = binfm_check_room(at, end, (width == 0u) ? 0u : count, width);

    if ((next == NULL) || ((kind == BINFM_NUMERIC) && (width == 0u) && (count > 0u))) {
        return NULL;
    }
    if ((count == 0u) && ((kind != BINFM_NUMERIC) || (width > 0u))) {
        return NULL;
    }
    if (kind == BINFM_TEXT) {
        return (width == 0u) ? binfm_check_texts(at, end, count) : NULL;
    }
    if (width == 0u) {
        return next;
    }
    if (kind == BINFM_NUMERIC) {
        return ((width <= 4u) && (binfm_check_edges(at, count, width) != 0u)) ? next : NULL;
    }
    return ((binfm_is_width(width) != 0u) && (binfm_check_numbers(at, count, width, 0u) != 0u)) ? next : NULL;
}

/* Whether a feature of a kind may have copies, or none. */
static inline uint_fast8_t binfm_check_copies(uint_fast8_t tag, uint32_t tilings)
{
    if ((tag & BINFM_COPIES) != 0u) {
        return (tilings > 1u) ? 1u : 0u;
    }
    return ((tilings == 1u) || ((tag & BINFM_KIND) == BINFM_NUMERIC)) ? 1u : 0u;
}

/* A feature; adds the number of its rows. */
static inline const uint8_t *binfm_check_feature(const uint8_t *at, const uint8_t *end, uint32_t tilings,
                                                 uint32_t *rows)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint_fast8_t kind = (uint_fast8_t)(tag & BINFM_KIND);
    const uint8_t *next;
    uint32_t count;

    if (tag == 0u) {
        return at + 1;
    }
    if ((kind == 0u) || (binfm_check_copies(tag, tilings) == 0u)) {
        return NULL;
    }
    next = binfm_check_count(at + 1, end, &count);
    if (next == NULL) {
        return NULL;
    }
    next = binfm_check_values(next, end, tag, count);
    count -= (kind == BINFM_NUMERIC) ? 0u : 1u;
    if ((next == NULL) || (count > BINFM_MOST_ROWS)) { /* more rows than a file has bits for */
        return NULL;
    }
    *rows += count * (((tag & BINFM_COPIES) != 0u) ? tilings : 1u);
    *rows += tilings * (((tag & BINFM_MISSING) != 0u) ? 2u : 1u);
    return next;
}

/* All features; writes how many are used and how many rows they have. */
static inline const uint8_t *binfm_check_features(const uint8_t *model, const uint8_t *end, uint32_t *used,
                                                  uint32_t *rows)
{
    const uint8_t *at = model + BINFM_AT_SCALES + ((size_t)BINFM_SCALE_BYTES * binfm_functions(model));
    uint32_t left;

    *used = 0u;
    *rows = 0u;
    for (left = binfm_features(model); left > 0u; left--) {
        if (at == end) {
            return NULL;
        }
        *used += (BINFM_BYTE(at) != 0u) ? 1u : 0u;
        at = binfm_check_feature(at, end, BINFM_BYTE(model + BINFM_AT_TILINGS), rows);
        if ((at == NULL) || (*rows > BINFM_MOST_ROWS)) {
            return NULL;
        }
    }
    return at;
}

/* The bits are there, and those behind the last are zero. */
static inline const uint8_t *binfm_check_bits(const uint8_t *at, const uint8_t *end, uint64_t bits)
{
    const uint64_t bytes = (bits + 7u) / 8u;
    const uint_fast8_t last = (uint_fast8_t)(bits % 8u);

    if (bytes > binfm_left(at, end)) {
        return NULL;
    }
    if ((last != 0u) && ((BINFM_BYTE(at + ((size_t)bytes - 1u)) >> last) != 0u)) {
        return NULL;
    }
    return at + (size_t)bytes;
}

/* Class labels: whole numbers, float64, false and true, or texts. */
static inline const uint8_t *binfm_check_labels(const uint8_t *at, const uint8_t *end, uint16_t classes)
{
    const uint_fast8_t kind = BINFM_BYTE(at);
    const uint_fast8_t width = (kind == 1u) ? BINFM_BYTE(at + 1) : 8u;
    const uint8_t *numbers = binfm_check_room(at, end, (kind == 1u) ? 2u : 1u, 1u);
    const uint8_t *next;

    if ((numbers == NULL) || (classes == 0u) || (kind == 0u) || (kind > 4u)) {
        return NULL;
    }
    if (kind == 3u) {
        return (classes == 2u) ? numbers : NULL;
    }
    if (kind == 4u) {
        return binfm_check_texts(numbers, end, classes);
    }
    next = binfm_check_room(numbers, end, classes, width);
    if ((next == NULL) || (binfm_is_width(width) == 0u)) {
        return NULL;
    }
    return (binfm_check_numbers(numbers, classes, width, (kind == 2u) ? 1u : 0u) != 0u) ? next : NULL;
}

/* The fixed part of the file, from the flags to the exponent. */
static inline uint_fast8_t binfm_check_header(const uint8_t *model)
{
    const uint16_t functions = binfm_functions(model);
    const uint_fast8_t loss = BINFM_BYTE(model + BINFM_AT_LOSS);
    const int16_t exponent = binfm_exponent(model);
    uint_fast8_t i;

    for (i = BINFM_AT_SHIFT_A; i <= BINFM_AT_SHIFT_BIAS; i++) {
        if (BINFM_BYTE(model + i) > BINFM_MOST_SHIFT) {
            return 0u;
        }
    }
    if ((binfm_features(model) == 0u) || (binfm_u16(model + BINFM_AT_FACTORS) == 0u)) {
        return 0u;
    }
    if ((functions == 0u) || (functions == 2u) || (BINFM_BYTE(model + BINFM_AT_TILINGS) == 0u)) {
        return 0u;
    }
    if ((loss > BINFM_REGRESSION) || ((loss == BINFM_REGRESSION) && (functions != 1u))) {
        return 0u;
    }
    if (BINFM_BYTE(model + BINFM_AT_FLAGS) > (BINFM_ZERO_IS_ABSENT | BINFM_HAS_LABELS)) {
        return 0u;
    }
    return ((exponent >= -BINFM_MOST_EXPONENT) && (exponent <= BINFM_MOST_EXPONENT)) ? 1u : 0u;
}

/* Whether a sound model is within the limits of this runtime. */
static inline uint_fast8_t binfm_fits(const uint8_t *model, uint32_t used, uint32_t rows)
{
    const uint16_t factors = binfm_u16(model + BINFM_AT_FACTORS);
    const uint32_t active = used * BINFM_BYTE(model + BINFM_AT_TILINGS);
    const uint8_t *scales = model + BINFM_AT_SCALES;
    uint64_t pairs = (uint64_t)(active * active) * factors;
    uint16_t largest = 0u;
    uint16_t i;

    if ((active > BINFM_MOST_ACTIVE) || ((pairs >> 32) != 0u) || ((uint32_t)(size_t)rows != rows)) {
        return 0u;
    }
    for (i = binfm_functions(model); i > 0u; i--) {
        const uint16_t c = binfm_u16(scales + 6);

        largest = (c > largest) ? c : largest;
        scales += BINFM_SCALE_BYTES;
    }
    pairs = (pairs - ((uint64_t)active * factors)) / 2u;
    pairs *= largest;
    return ((pairs >> (uint_fast8_t)(BINFM_SCORE_BITS - BINFM_BYTE(model + BINFM_AT_SHIFT_C))) == 0u) ? 1u : 0u;
}

/* CRC-32C */
static inline uint32_t binfm_checksum(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xffffffffu;
    uint_fast8_t bit;
    size_t i;

    for (i = 0u; i < length; i++) {
        crc ^= BINFM_BYTE(bytes + i);
        for (bit = 0u; bit < 8u; bit++) {
            crc = (crc >> 1) ^ (((crc & 1u) != 0u) ? 0x82f63b78u : 0u);
        }
    }
    return ~crc;
}

/* Magic, version, length and checksum */
static inline binfm_status binfm_check_frame(const uint8_t *model, size_t length)
{
    const size_t content = length - BINFM_CHECKSUM_BYTES;

    if (length < (BINFM_AT_SCALES + BINFM_SCALE_BYTES + BINFM_CHECKSUM_BYTES)) {
        return BINFM_BAD_LENGTH;
    }
    if (binfm_u32(model) != BINFM_MAGIC) {
        return BINFM_BAD_MAGIC;
    }
    if (BINFM_BYTE(model + BINFM_AT_VERSION) != BINFM_VERSION) {
        return BINFM_BAD_VERSION;
    }
    if (binfm_u32(model + BINFM_AT_LENGTH) != length) {
        return BINFM_BAD_LENGTH;
    }
    if (binfm_u32(model + BINFM_AT_LENGTH) > BINFM_MOST_BYTES) {
        return BINFM_TOO_LARGE;
    }
    return (binfm_u32(model + content) == binfm_checksum(model, content)) ? BINFM_OK : BINFM_BAD_CHECKSUM;
}

/* Everything between the frame's two ends */
static inline binfm_status binfm_check_content(const uint8_t *model, const uint8_t *end)
{
    const uint8_t *at;
    uint32_t used;
    uint32_t rows;

    if ((binfm_check_header(model) == 0u) ||
        (binfm_check_room(model + BINFM_AT_SCALES, end, binfm_functions(model), BINFM_SCALE_BYTES) == NULL)) {
        return BINFM_BAD_FORMAT;
    }
    at = binfm_check_features(model, end, &used, &rows);
    if (at != NULL) {
        at = binfm_check_bits(at, end, (uint64_t)rows * binfm_row_bits(model));
    }
    if ((at != NULL) && ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_LABELS) != 0u)) {
        at = binfm_check_labels(at, end, binfm_classes(model));
    }
    if (at != end) {
        return BINFM_BAD_FORMAT;
    }
    return (binfm_fits(model, used, rows) != 0u) ? BINFM_OK : BINFM_TOO_LARGE;
}

/*
 * Whether the bytes are a model of this format and within the limits. After BINFM_OK no function here reads outside of
 * them, whatever the values of a row. A checksum is no signature: it tells damage, not who made the model.
 */
BINFM_LARGE binfm_status binfm_check(const uint8_t *model, size_t length)
{
    const binfm_status status = binfm_check_frame(model, length);

    return (status == BINFM_OK) ? binfm_check_content(model, model + (length - BINFM_CHECKSUM_BYTES)) : status;
}

/*
 * Check a model and score some rows. In `tests` stand, row by row, the bits of the floats and the scores that Python
 * gave for each function, 4 and 8 bytes each, the lowest first. `x` takes a row, `active` its active rows.
 */
BINFM_LARGE binfm_status binfm_selftest(const uint8_t *model, size_t length, const uint8_t *tests, uint16_t rows,
                                        float *x, uint32_t *active)
{
    const binfm_status status = binfm_check(model, length);
    const uint8_t *at = tests;
    uint16_t row;
    uint16_t function;
    uint32_t i;

    for (row = 0u; (row < rows) && (status == BINFM_OK); row++) {
        for (i = 0u; i < binfm_features(model); i++) {
            binfm_float_of_bits(binfm_u32(at), &x[i]);
            at += 4;
        }
        binfm_encode(model, x, active);
        for (function = 0u; function < binfm_functions(model); function++) {
            if (binfm_score(model, active, function) != binfm_signed(at, 8u)) {
                return BINFM_BAD_SCORE;
            }
            at += 8;
        }
    }
    return status;
}

#endif
