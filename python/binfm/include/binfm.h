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

/* ======== Settings =============================================================================================== */

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

/* ======== What users see: a status, the limits, the size of an array ============================================= */

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

/* ======== The file, as docs/file-format.md has it ================================================================ */

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
#define BINFM_AT_USUAL 25u
#define BINFM_AT_SCALES 27u
#define BINFM_CHECKSUM_BYTES 4u
/* Flags of the file. */
#define BINFM_ZERO_IS_ABSENT 1u
#define BINFM_HAS_LABELS 2u
#define BINFM_HAS_UNUSED 4u
#define BINFM_HAS_NAMES 8u
#define BINFM_FLAGS 15u
/* The first byte of a feature: kind, copies, missing cell; the upper four bits go by the kind. */
#define BINFM_KIND 3u
#define BINFM_CODES 0u
#define BINFM_LEADING 1u
#define BINFM_WHOLE 2u
#define BINFM_TEXT 3u
#define BINFM_COPIES 4u
#define BINFM_MISSING 8u
#define BINFM_OWN_PARAMETER 0x40u
#define BINFM_OWN_COUNT 0x80u
#define BINFM_WAY 0x73u /* kind, form, own parameter */
/* How the codes of a feature are spaced. */
#define BINFM_FORM 3u
#define BINFM_UNSIGNED 0u
#define BINFM_SIGNED 1u
#define BINFM_LOGARITHMIC 2u
#define BINFM_REGRESSION 3u
#define BINFM_SOFTMAX 4u

/* ======== Reading numbers ======================================================================================== */

BINFM_SMALL uint16_t binfm_u16(const uint8_t *at)
{
    return (uint16_t)(BINFM_BYTE(at) | ((uint16_t)BINFM_BYTE(at + 1) << 8));
}

BINFM_LARGE uint32_t binfm_u32(const uint8_t *at)
{
    return binfm_u16(at) | ((uint32_t)binfm_u16(at + 2) << 16);
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

/* ======== What the header says =================================================================================== */

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

/* Bytes of the scales of a score function: bias, a, and c. */
BINFM_SMALL uint_fast8_t binfm_scale_bytes(const uint8_t *model)
{
    return (binfm_functions(model) == 1u) ? 8u : 2u;
}

/* What follows the scales of all score functions. */
BINFM_SMALL const uint8_t *binfm_after_scales(const uint8_t *model)
{
    return model + BINFM_AT_SCALES + ((size_t)binfm_scale_bytes(model) * binfm_functions(model));
}

/* ======== Values: a value goes by the bits of its float32 ======================================================== */

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

/* ======== Cells of numbers: how many edges are not above a number ================================================ */

/*
 * Edges of one byte are codes of a grid, and the upper two bytes of a number, that is its sign, its exponent and seven
 * bits of its mantissa, tell where it lies on that grid.
 */

/* The exponent of numbers whose mantissa, with its hidden bit, is their code: by the parameter, which is -126 to 119. */
#define BINFM_UNIT(parameter) ((uint8_t)((parameter) + 134u))

/* Find the last code of a grid that is not above a number. -1: all are above it; 1: it is beyond the last; else 0. */
BINFM_SMALL int_fast8_t binfm_code(uint_fast8_t form, uint8_t parameter, uint16_t upper, uint8_t *code)
{
    const uint8_t exponent = (uint8_t)(upper >> 7);
    const uint8_t mantissa = (uint8_t)((uint8_t)upper | 0x80u);
    const uint_fast8_t negative = ((upper & 0x8000u) != 0u) ? 1u : 0u;
    const int_fast8_t outside = (negative != 0u) ? -1 : 1;
    uint8_t shift;

    if ((negative != 0u) && (form != BINFM_SIGNED)) {
        return -1;
    }
    if (form == BINFM_LOGARITHMIC) {
        const uint8_t octave = (uint8_t)(exponent - parameter);

        *code = (uint8_t)((octave * 16u) | ((mantissa >> 3) & 15u));
        if (exponent < parameter) {
            return -1;
        }
        return (octave > 15u) ? 1 : 0;
    }
    shift = (uint8_t)(BINFM_UNIT(parameter) - exponent);
    if (exponent > BINFM_UNIT(parameter)) {
        return outside;
    }
    *code = 0u;
    if (shift < 8u) {
        *code = (uint8_t)(mantissa >> shift);
    }
    if (form == BINFM_SIGNED) {
        if (*code >= 128u) {
            return outside;
        }
        *code ^= (negative != 0u) ? 0x7fu : 0x80u; /* 127 - code, or 128 + code */
    }
    return 0;
}

/* How many of 1 to 256 codes are not above a number. There are about 20 mostly: steps of four are fast. */
BINFM_SMALL size_t binfm_find_code(const uint8_t *codes, size_t count, uint_fast8_t form, uint8_t parameter,
                                   uint16_t upper)
{
    uint_fast8_t left = (uint_fast8_t)count;
    const uint8_t *at;
    uint8_t code = 0u;
    const int_fast8_t outside = binfm_code(form, parameter, upper, &code);

    if (outside != 0) {
        return (outside < 0) ? 0u : count;
    }
    at = codes;
    while ((left > 4u) && (BINFM_BYTE(at + 3) <= code)) {
        at += 4;
        left = (uint_fast8_t)(left - 4u);
    }
    do {
        if (BINFM_BYTE(at) > code) {
            break;
        }
        at++;
        left--;
    } while (left != 0u);
    return (size_t)(at - codes);
}

/* The key of a number: keys have the order of the numbers. */
BINFM_SMALL uint32_t binfm_key(uint32_t bits)
{
    return ((bits & 0x80000000u) != 0u) ? ~bits : (bits | 0x80000000u);
}

/* The key of an edge that has its leading bytes. */
BINFM_SMALL uint32_t binfm_edge(const uint8_t *at, uint_fast8_t width)
{
    uint32_t key = 0u;
    uint_fast8_t i;

    for (i = 0u; i < width; i++) {
        key = (key >> 8) | ((uint32_t)BINFM_BYTE(at + i) << 24);
    }
    return key;
}

/* How many edges of two bytes, fewer than 256, are not above a number. */
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

/* How many edges are not above a key. */
BINFM_LARGE size_t binfm_find_edge(const uint8_t *edges, size_t count, uint_fast8_t width, uint32_t key)
{
    const uint16_t upper = (uint16_t)(key >> 16);
    size_t low = 0u;
    size_t high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2u;
        const uint8_t *at = edges + (middle * width);
        const uint16_t edge = binfm_u16(at + (width - 2u));

        if ((edge > upper) || ((edge == upper) && (width > 2u) && (binfm_edge(at, width) > key))) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

/* ======== Cells of categories ==================================================================================== */

/* What is no cell: that of a value which activates nothing, and that of NaN. */
#define BINFM_NONE ((size_t)-1)
#define BINFM_NAN ((size_t)-2)
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

/* ======== Records of features ==================================================================================== */

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

/* The record of a feature. */
typedef struct {
    const uint8_t *numbers; /* its edges or levels */
    size_t count;
    uint_fast8_t tag;
} binfm_record;

/* Bytes of an edge or level in a record; a text has its own. */
BINFM_SMALL uint_fast8_t binfm_width(uint_fast8_t tag)
{
    const uint_fast8_t upper = (uint_fast8_t)(tag >> 4);

    if ((tag & BINFM_KIND) == BINFM_CODES) {
        return 1u;
    }
    if ((tag & BINFM_KIND) == BINFM_LEADING) {
        return (uint_fast8_t)((upper & BINFM_FORM) + (((upper & BINFM_FORM) != 0u) ? 1u : 0u));
    }
    return upper;
}

/* What records leave out: the usual number of edges, and the last parameter of each form of codes. */
typedef struct {
    uint16_t usual;
    uint8_t parameter[BINFM_FORM + 1u]; /* the last is that of no form */
} binfm_shared;

/* Read a record up to its edges or levels. */
BINFM_SMALL void binfm_read_record(const uint8_t *at, binfm_shared *shared, binfm_record *record)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint_fast8_t form = (uint_fast8_t)((tag >> 4) & BINFM_FORM);

    record->tag = tag;
    record->numbers = at + 1;
    record->count = shared->usual;
    if ((tag & (BINFM_KIND | BINFM_OWN_PARAMETER)) == (BINFM_CODES | BINFM_OWN_PARAMETER)) {
        shared->parameter[form] = BINFM_BYTE(record->numbers);
        record->numbers++;
    }
    if ((tag & (BINFM_WHOLE | BINFM_OWN_COUNT)) != 0u) {
        record->numbers = binfm_read_count(record->numbers, &record->count);
    }
}

/* What follows a record. */
BINFM_SMALL const uint8_t *binfm_after_record(const binfm_record *record)
{
    if ((record->tag & BINFM_KIND) == BINFM_CODES) {
        return record->numbers + record->count;
    }
    if ((record->tag & BINFM_KIND) == BINFM_TEXT) {
        return binfm_skip_texts(record->numbers, record->count);
    }
    return record->numbers + (record->count * binfm_width(record->tag));
}

/* ======== From a row of values to its active rows ================================================================ */

/* The cell of a number that is not NaN. */
BINFM_SMALL size_t binfm_interval(const binfm_record *record, const uint8_t *parameter, uint32_t bits)
{
    const uint_fast8_t form = (uint_fast8_t)((record->tag >> 4) & BINFM_FORM);
    const uint16_t upper = (uint16_t)(bits >> 16);

    if ((record->tag & BINFM_KIND) == BINFM_CODES) {
        return binfm_find_code(record->numbers, record->count, form, parameter[form], upper);
    }
    if ((form == 1u) && (record->count < 256u)) { /* two bytes each */
        return binfm_find_short(record->numbers, (uint_fast8_t)record->count, (uint16_t)(binfm_key(bits) >> 16));
    }
    return binfm_find_edge(record->numbers, record->count, binfm_width(record->tag), binfm_key(bits));
}

/* What encoding carries from one feature to the next. */
typedef struct {
    const uint8_t *at; /* the next record */
    uint32_t *start;   /* where its start goes */
    size_t row;        /* its first parameter row */
    uint32_t row_size; /* of a parameter row, in 1/32 bit: in 1/256 byte */
    uint_fast8_t tilings;
    uint_fast8_t flags;
    binfm_shared shared;
} binfm_encoder;

/* The cell of a value that is not NaN, or BINFM_NONE. */
BINFM_SMALL size_t binfm_cell(const binfm_encoder *encoder, const binfm_record *record, uint32_t value)
{
    const uint_fast8_t is_zero = binfm_is_zero(value);
    const uint32_t bits = (is_zero != 0u) ? 0u : value; /* -0.0 is 0.0 */

    if ((is_zero != 0u) && ((encoder->flags & BINFM_ZERO_IS_ABSENT) != 0u)) {
        return BINFM_NONE;
    }
    if ((record->tag & BINFM_WHOLE) != 0u) { /* or texts */
        return binfm_category(record->numbers, record->count, binfm_width(record->tag), bits);
    }
    return binfm_interval(record, encoder->shared.parameter, bits);
}

/* Take the value of the next feature that is used. */
BINFM_SMALL void binfm_encode_value(binfm_encoder *encoder, uint32_t value)
{
    binfm_record record;
    size_t cell;
    size_t rows;

    binfm_read_record(encoder->at, &encoder->shared, &record);
    encoder->at = binfm_after_record(&record);
    cell = (binfm_is_nan(value) != 0u) ? BINFM_NAN : binfm_cell(encoder, &record, value);
    rows = record.count;
    if ((record.tag & BINFM_WHOLE) != 0u) {
        rows--;
    }
    if ((record.tag & BINFM_COPIES) != 0u) {
        rows *= encoder->tilings;
        cell *= (cell < BINFM_NAN) ? encoder->tilings : 1u;
    }
    rows += encoder->tilings;
    if ((record.tag & BINFM_MISSING) != 0u) {
        cell = (cell == BINFM_NAN) ? rows : cell;
        rows += encoder->tilings;
    }
    if (cell < BINFM_NAN) {
        *encoder->start = (uint32_t)(encoder->row + cell) * encoder->row_size;
        encoder->start++;
    }
    encoder->row += rows;
}

/* Find the active rows of floats, or of whole numbers. */
BINFM_SMALL void binfm_encode_row(const uint8_t *model, const float *floats, const int16_t *numbers,
                                  uint_fast8_t whole, uint32_t *active)
{
    const size_t features = (size_t)binfm_features(model);
    const uint8_t *used = NULL;
    binfm_encoder encoder;
    uint8_t bits = 0u;
    size_t i;

    encoder.at = binfm_after_scales(model);
    encoder.start = active + 2u;
    encoder.row = 0u;
    encoder.row_size = binfm_row_bits(model) << 5;
    encoder.tilings = BINFM_BYTE(model + BINFM_AT_TILINGS);
    encoder.flags = BINFM_BYTE(model + BINFM_AT_FLAGS);
    encoder.shared.usual = binfm_u16(model + BINFM_AT_USUAL);
    encoder.shared.parameter[BINFM_UNSIGNED] = 0u;
    encoder.shared.parameter[BINFM_SIGNED] = 0u;
    encoder.shared.parameter[BINFM_LOGARITHMIC] = 0u;
    if ((encoder.flags & BINFM_HAS_UNUSED) != 0u) {
        used = encoder.at;
        encoder.at += ((features - 1u) / 8u) + 1u;
    }
    for (i = 0u; i < features; i++) {
        uint_fast8_t is_used = 1u;

        if (used != NULL) {
            if ((i % 8u) == 0u) {
                bits = BINFM_BYTE(used);
                used++;
            }
            is_used = (uint_fast8_t)(bits & 1u);
            bits = (uint8_t)(bits >> 1);
        }
        if (is_used != 0u) {
            binfm_encode_value(&encoder,
                               (whole != 0u) ? binfm_bits_of_i16(numbers[i]) : binfm_bits_of_float(&floats[i]));
        }
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

/* ======== From active rows to scores and a class ================================================================= */

/*
 * If c of the A active rows are +1 in a column, and A - c are -1, then c * (A - c) pairs of rows disagree there. Q is
 * the number of pairs that agree less the number that disagree, over all m columns:
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
    const uint8_t *scales = model + BINFM_AT_SCALES + ((size_t)binfm_scale_bytes(model) * function);
    const uint_fast8_t wide = (binfm_functions(model) == 1u) ? 1u : 0u;
    const int32_t bias = (wide != 0u) ? (int32_t)binfm_u32(scales) : (int8_t)BINFM_BYTE(scales);
    const uint16_t a = (wide != 0u) ? binfm_u16(scales + 4) : (BINFM_BYTE(scales + 1) & 15u);
    const uint16_t c = (wide != 0u) ? binfm_u16(scales + 6) : (BINFM_BYTE(scales + 1) >> 4);
    int32_t L = 0;
    int32_t Q;
    uint64_t score;

    binfm_terms(model, active, function, &L, &Q);
    score = (uint64_t)(int64_t)bias << BINFM_BYTE(model + BINFM_AT_SHIFT_BIAS);
    score += (uint64_t)((int64_t)a * L) << BINFM_BYTE(model + BINFM_AT_SHIFT_A);
    score += (uint64_t)((int64_t)c * Q) << BINFM_BYTE(model + BINFM_AT_SHIFT_C);
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

/* ======== Checking a model ======================================================================================= */

/*
 * The functions go over a piece of the file and return what follows it, or NULL if it breaks a rule. `end` is
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
    if (at >= end) {
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

/*
 * Edges are written in the first of these ways that holds them all: codes of an even grid, or of a logarithmic one if
 * all are positive, with a parameter that was written before; the same with one of their own; leading bytes.
 * Codes stand for keys whose lower two bytes are zero, so the upper two do here.
 */

/* Whether there is a grid with a parameter; that of an even one is a signed byte. */
static inline uint_fast8_t binfm_is_grid(uint_fast8_t form, uint8_t parameter)
{
    if (form >= BINFM_LOGARITHMIC) {
        return ((form == BINFM_LOGARITHMIC) && (parameter < 255u)) ? 1u : 0u;
    }
    return ((parameter <= 119u) || (parameter >= 130u)) ? 1u : 0u;
}

/* The edge of a code, 0 if that is no finite number. */
BINFM_LARGE uint16_t binfm_code_edge(uint_fast8_t form, uint8_t parameter, uint8_t code)
{
    const uint_fast8_t negative = ((form == BINFM_SIGNED) && (code < 128u)) ? 1u : 0u;
    uint8_t exponent = BINFM_UNIT(parameter);
    uint8_t steps = code;
    uint16_t size;

    if (form == BINFM_LOGARITHMIC) {
        size = (uint16_t)((parameter * 128u) + (code * 8u));
        return (size < 0x7f80u) ? (uint16_t)(size | 0x8000u) : 0u;
    }
    if (form == BINFM_SIGNED) {
        steps = (uint8_t)(code - 128u);
    }
    if (negative != 0u) {
        steps = (uint8_t)(128u - code);
    }
    if (steps == 0u) {
        return 0x8000u;
    }
    while (steps < 128u) {
        steps = (uint8_t)(steps << 1);
        exponent--;
    }
    size = (uint16_t)((exponent * 128u) + (steps & 0x7fu));
    if (negative != 0u) {
        return (uint16_t)(0x8000u - size);
    }
    return (uint16_t)(0x8000u | size);
}

/* An edge of a record that has codes of this parameter, or two leading bytes. */
BINFM_LARGE uint16_t binfm_upper_edge(const binfm_record *record, uint8_t parameter, size_t i)
{
    if ((record->tag & BINFM_KIND) == BINFM_LEADING) {
        return binfm_u16(record->numbers + (2u * i));
    }
    return binfm_code_edge((record->tag >> 4) & BINFM_FORM, parameter, BINFM_BYTE(record->numbers + i));
}

/* Whether all edges of a record lie on a grid. */
BINFM_LARGE uint_fast8_t binfm_grid_holds(uint_fast8_t form, uint8_t grid, const binfm_record *record,
                                          uint8_t parameter)
{
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint16_t edge = binfm_upper_edge(record, parameter, i);
        const uint16_t upper = (uint16_t)(edge ^ ((edge >= 0x8000u) ? 0x8000u : 0xffffu));
        uint8_t code = 0u;

        if ((binfm_code(form, grid, upper, &code) != 0) || (binfm_code_edge(form, grid, code) != edge)) {
            return 0u;
        }
    }
    return 1u;
}

/* The parameter of the coarsest even grid on which all edges of a record can lie; of none, if they cannot. */
static inline uint8_t binfm_coarsest(const binfm_record *record, uint8_t parameter)
{
    uint16_t least = 0xffffu;
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint16_t edge = binfm_upper_edge(record, parameter, i);
        const uint16_t above = (uint16_t)(edge - 0x8000u);
        const uint16_t size = (edge >= 0x8000u) ? above : (uint16_t)(0u - above);
        uint16_t unit = (uint16_t)(size >> 7);
        uint8_t steps = (uint8_t)(size | 0x80u);

        while ((steps & 1u) == 0u) {
            steps >>= 1;
            unit++;
        }
        if ((size != 0u) && (unit < least)) {
            least = unit;
        }
    }
    if (least == 0xffffu) {
        return 0u; /* only zero */
    }
    return (uint8_t)(((least > 253u) ? 253u : least) - 134u);
}

/* Whether the edges of a record, codes or two leading bytes each, are written in the first way that there is. */
static inline uint_fast8_t binfm_is_first_way(const binfm_record *record, uint8_t parameter,
                                              const binfm_shared *shared)
{
    const uint16_t first = binfm_upper_edge(record, parameter, 0u);
    const uint8_t coarsest = binfm_coarsest(record, parameter);
    uint_fast8_t way;

    for (way = 0u; way < 4u; way++) {
        const uint_fast8_t is_own = (uint_fast8_t)(way >> 1); /* the first two have known parameters */
        uint_fast8_t form = (first < 0x8000u) ? BINFM_SIGNED : BINFM_UNSIGNED;
        uint8_t grid = coarsest;

        if ((way & 1u) != 0u) {
            form = BINFM_LOGARITHMIC;
            grid = (uint8_t)(first >> 7);
        }
        if (is_own == 0u) {
            grid = shared->parameter[form];
        }
        if (((form != BINFM_LOGARITHMIC) || (first > 0x8000u)) && (binfm_is_grid(form, grid) != 0u) &&
            (binfm_grid_holds(form, grid, record, parameter) != 0u)) {
            const uint_fast8_t tag = (uint_fast8_t)((form * 16u) | ((is_own != 0u) ? BINFM_OWN_PARAMETER : 0u));

            return (((record->tag & BINFM_WAY) == tag) && (parameter == grid)) ? 1u : 0u;
        }
    }
    return ((record->tag & BINFM_KIND) == BINFM_LEADING) ? 1u : 0u;
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

/* Texts are UTF-8, and ascend if they are to. */
BINFM_LARGE const uint8_t *binfm_check_texts(const uint8_t *texts, const uint8_t *end, uint32_t count,
                                             uint_fast8_t ascend)
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
        if ((ascend != 0u) && (i > 0u) && (binfm_above(before, before_size, at, size) == 0u)) {
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

/* Leading bytes of edges ascend, none is a NaN, and not all could do without the last byte. */
static inline uint_fast8_t binfm_check_leading(const binfm_record *record)
{
    const uint_fast8_t width = binfm_width(record->tag);
    const uint8_t *at = record->numbers;
    uint32_t before = 0x7ffffeu; /* below the key of -inf there are NaN, and above that of inf */
    uint8_t low = 0u;
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint32_t edge = binfm_edge(at, width);

        if ((edge <= before) || (edge > 0xff800000u)) {
            return 0u;
        }
        before = edge;
        low |= BINFM_BYTE(at);
        at += width;
    }
    return ((low != 0u) || (width == 2u)) ? 1u : 0u;
}

/* Codes ascend, and the last is a finite number. */
static inline uint_fast8_t binfm_check_codes(const binfm_record *record, uint8_t parameter)
{
    const uint_fast8_t form = (uint_fast8_t)((record->tag >> 4) & BINFM_FORM);
    const uint8_t *at = record->numbers;
    size_t i;

    for (i = 1u; i < record->count; i++) {
        if (BINFM_BYTE(at + i) <= BINFM_BYTE(at + (i - 1u))) {
            return 0u;
        }
    }
    return (binfm_code_edge(form, parameter, BINFM_BYTE(at + (record->count - 1u))) != 0u) ? 1u : 0u;
}

/* The edges of a feature: there is room for them. `shared` is what the records before have. */
static inline uint_fast8_t binfm_check_edges(const binfm_record *record, uint8_t parameter,
                                             const binfm_shared *shared)
{
    const uint_fast8_t width = binfm_width(record->tag);

    if ((record->count == 0u) || (width == 0u)) {
        return ((record->count == 0u) && (width == 0u)) ? 1u : 0u;
    }
    if (((width == 1u) ? binfm_check_codes(record, parameter) : binfm_check_leading(record)) == 0u) {
        return 0u;
    }
    return (width > 2u) ? 1u : binfm_is_first_way(record, parameter, shared);
}

/* The levels of a feature, one at least: there is room for them. */
static inline const uint8_t *binfm_check_levels(const binfm_record *record, const uint8_t *end)
{
    const uint_fast8_t width = binfm_width(record->tag);
    const uint8_t *after = record->numbers + (record->count * width);

    if ((record->tag & BINFM_KIND) == BINFM_TEXT) {
        return (width == 0u) ? binfm_check_texts(record->numbers, end, (uint32_t)record->count, 1u) : NULL;
    }
    if (width == 0u) {
        return after;
    }
    if ((binfm_is_width(width) == 0u) ||
        (binfm_check_numbers(record->numbers, (uint32_t)record->count, width, 0u) == 0u)) {
        return NULL;
    }
    return after;
}

/* Whether a feature of a kind may have copies, or none. */
static inline uint_fast8_t binfm_check_copies(uint_fast8_t tag, uint32_t tilings)
{
    if ((tag & BINFM_COPIES) != 0u) {
        return (tilings > 1u) ? 1u : 0u;
    }
    return ((tilings == 1u) || ((tag & BINFM_WHOLE) == 0u)) ? 1u : 0u;
}

/* The head of a record: what stands before its edges or levels. Writes how many there are, and their parameter. */
static inline const uint8_t *binfm_check_head(const uint8_t *at, const uint8_t *end, const binfm_shared *shared,
                                              uint32_t *count, uint8_t *parameter)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint_fast8_t form = (uint_fast8_t)((tag >> 4) & BINFM_FORM);
    const uint8_t *next = at + 1;

    *count = shared->usual;
    *parameter = shared->parameter[form];
    if ((tag & BINFM_WHOLE) != 0u) {
        next = binfm_check_count(next, end, count);
        return (*count == 0u) ? NULL : next;
    }
    if ((tag & BINFM_OWN_PARAMETER) != 0u) {
        *parameter = BINFM_BYTE(next);
        next++;
    }
    if ((tag & BINFM_KIND) == BINFM_CODES) {
        next = (binfm_is_grid(form, *parameter) != 0u) ? next : NULL;
    } else {
        next = ((tag & BINFM_OWN_PARAMETER) == 0u) ? next : NULL;
    }
    if ((next != NULL) && ((tag & BINFM_OWN_COUNT) != 0u)) {
        next = binfm_check_count(next, end, count);
        return (*count == shared->usual) ? NULL : next;
    }
    return next;
}

/* A record; adds the number of its rows. */
static inline const uint8_t *binfm_check_record(const uint8_t *at, const uint8_t *end, uint32_t tilings,
                                                binfm_shared *shared, uint32_t *rows)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint_fast8_t width = binfm_width(tag);
    const uint8_t *next;
    binfm_record record;
    uint8_t parameter;
    uint32_t count;

    next = binfm_check_head(at, end, shared, &count, &parameter);
    if ((next == NULL) || (next > end) || (binfm_check_copies(tag, tilings) == 0u)) {
        return NULL;
    }
    record.tag = tag;
    record.numbers = next;
    record.count = (size_t)count;
    next = binfm_check_room(next, end, (width == 0u) ? 0u : count, width);
    if (next == NULL) {
        return NULL;
    }
    if ((tag & BINFM_WHOLE) != 0u) {
        next = binfm_check_levels(&record, end);
        count--;
    } else {
        next = (binfm_check_edges(&record, parameter, shared) != 0u) ? next : NULL;
    }
    if ((next == NULL) || (count > BINFM_MOST_ROWS)) { /* more rows than a file has bits for */
        return NULL;
    }
    if ((tag & BINFM_KIND) == BINFM_CODES) {
        shared->parameter[(tag >> 4) & BINFM_FORM] = parameter;
    }
    *rows += count * (((tag & BINFM_COPIES) != 0u) ? tilings : 1u);
    *rows += tilings * (((tag & BINFM_MISSING) != 0u) ? 2u : 1u);
    return next;
}

/* The number of edges that most numeric features have, of equals the smallest; 0 if that is above 65,535. */
static inline uint16_t binfm_most_usual(const uint8_t *records, const uint8_t *end, uint16_t usual)
{
    uint32_t edges = 0u;
    uint32_t most = 0u;
    uint32_t found = 0u;
    uint32_t more;

    do { /* from one number of edges to the next, as long as another can be found more often */
        uint32_t next = 0u;
        uint32_t same = 0u;
        const uint8_t *at = records;
        binfm_shared shared;

        shared.usual = usual;
        more = 0u;
        while (at != end) {
            binfm_record record;

            binfm_read_record(at, &shared, &record);
            at = binfm_after_record(&record);
            if (((record.tag & BINFM_WHOLE) != 0u) || (record.count < edges)) {
                continue;
            }
            if (record.count == edges) {
                same++;
            } else {
                next = ((more == 0u) || (record.count < next)) ? (uint32_t)record.count : next;
                more++;
            }
        }
        if (same > most) {
            most = same;
            found = edges;
        }
        edges = next;
    } while (more > most);
    return (found > 0xffffu) ? 0u : (uint16_t)found;
}

/* The bits that say which features are used: not all are. Writes how many. */
static inline const uint8_t *binfm_check_used(const uint8_t *at, const uint8_t *end, uint32_t features,
                                              uint32_t *used)
{
    const uint_fast8_t spare = (uint_fast8_t)((8u - (features & 7u)) & 7u);
    const uint32_t bytes = (features / 8u) + ((spare == 0u) ? 0u : 1u);
    uint32_t i;

    if (bytes > binfm_left(at, end)) {
        return NULL;
    }
    *used = 0u;
    for (i = 0u; i < bytes; i++) {
        uint8_t byte = BINFM_BYTE(at + (size_t)i);

        if ((i == (bytes - 1u)) && ((byte >> (uint_fast8_t)(8u - spare)) != 0u)) {
            return NULL;
        }
        for (; byte != 0u; byte >>= 1) {
            *used += byte & 1u;
        }
    }
    return (*used == features) ? NULL : (at + (size_t)bytes);
}

/* All features; writes how many are used and how many rows they have. */
static inline const uint8_t *binfm_check_features(const uint8_t *model, const uint8_t *end, uint32_t *used,
                                                  uint32_t *rows)
{
    const uint8_t *at = binfm_after_scales(model);
    const uint8_t *records;
    binfm_shared shared;
    uint32_t left;

    shared.parameter[BINFM_UNSIGNED] = 127u; /* there is no such grid, */
    shared.parameter[BINFM_SIGNED] = 127u;
    shared.parameter[BINFM_LOGARITHMIC] = 255u; /* and none of these */
    shared.parameter[BINFM_FORM] = 255u;
    shared.usual = binfm_u16(model + BINFM_AT_USUAL);
    *used = binfm_features(model);
    *rows = 0u;
    if ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_UNUSED) != 0u) {
        at = binfm_check_used(at, end, binfm_features(model), used);
        if (at == NULL) {
            return NULL;
        }
    }
    records = at;
    for (left = *used; left > 0u; left--) {
        if (at == end) {
            return NULL;
        }
        at = binfm_check_record(at, end, BINFM_BYTE(model + BINFM_AT_TILINGS), &shared, rows);
        if ((at == NULL) || (*rows > BINFM_MOST_ROWS)) {
            return NULL;
        }
    }
    return (binfm_most_usual(records, at, shared.usual) == shared.usual) ? at : NULL;
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
        return binfm_check_texts(numbers, end, classes, 1u);
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
    if ((loss > BINFM_SOFTMAX) || ((loss == BINFM_REGRESSION) && (functions != 1u)) ||
        ((loss == BINFM_SOFTMAX) && (functions == 1u))) {
        return 0u;
    }
    if (BINFM_BYTE(model + BINFM_AT_FLAGS) > BINFM_FLAGS) {
        return 0u;
    }
    return ((exponent >= -BINFM_MOST_EXPONENT) && (exponent <= BINFM_MOST_EXPONENT)) ? 1u : 0u;
}

/* Whether a sound model is within the limits of this runtime. */
static inline uint_fast8_t binfm_fits(const uint8_t *model, uint32_t used, uint32_t rows)
{
    const uint16_t factors = binfm_u16(model + BINFM_AT_FACTORS);
    const uint32_t active = used * BINFM_BYTE(model + BINFM_AT_TILINGS);
    const uint_fast8_t scale_bytes = binfm_scale_bytes(model);
    const uint8_t *scales = model + BINFM_AT_SCALES;
    const uint32_t most = rows + 2u; /* besides cells there are BINFM_NONE and BINFM_NAN */
    uint64_t pairs = (uint64_t)(active * active) * factors;
    uint16_t largest = 0u;
    uint16_t i;

    if ((active > BINFM_MOST_ACTIVE) || ((pairs >> 32) != 0u) || ((uint32_t)(size_t)most != most) ||
        ((uint32_t)(size_t)binfm_features(model) != binfm_features(model))) {
        return 0u;
    }
    for (i = binfm_functions(model); i > 0u; i--) {
        const uint16_t c = (scale_bytes == 8u) ? binfm_u16(scales + 6) : (BINFM_BYTE(scales + 1) >> 4);

        largest = (c > largest) ? c : largest;
        scales += scale_bytes;
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

    if (length < (BINFM_AT_SCALES + 6u + BINFM_CHECKSUM_BYTES)) {
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
        (binfm_check_room(model + BINFM_AT_SCALES, end, binfm_functions(model), binfm_scale_bytes(model)) ==
         NULL)) {
        return BINFM_BAD_FORMAT;
    }
    at = binfm_check_features(model, end, &used, &rows);
    if (at != NULL) {
        at = binfm_check_bits(at, end, (uint64_t)rows * binfm_row_bits(model));
    }
    if ((at != NULL) && ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_LABELS) != 0u)) {
        at = binfm_check_labels(at, end, binfm_classes(model));
    }
    if ((at != NULL) && ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_NAMES) != 0u)) {
        at = binfm_check_texts(at, end, binfm_features(model), 0u); /* nobody reads names here: two may be the same */
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

/* ======== Self-test ============================================================================================== */

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
