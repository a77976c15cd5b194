/*
 * binfm.h: score a binfm model in place.
 *
 * A model is the contents of a .binfm file: an array in flash, a file read into memory, bytes received over the air. It
 * is read one byte at a time, so it needs no alignment and works on machines of either byte order. Scores are integers
 * and are identical to Python's on every machine.
 *
 *     static uint32_t active[BINFM_ACTIVE(GESTURE_FEATURES)];
 *
 *     if (binfm_check(gesture_model, GESTURE_BYTES) != BINFM_OK) { ... }    once, before anything else
 *     label = binfm_predict(gesture_model, x, active);                      x: float[GESTURE_FEATURES]
 *     score = binfm_score(gesture_model, active, 0);                        in units of 2^-binfm_exponent()
 *     binfm_scores(gesture_model, active, scores);                          all of them, counted together
 *
 * In x, NaN marks a missing value, an integer category is its own value, and a string category is its index among the
 * feature's strings.
 *
 * C99 and C++98. No floating-point arithmetic, allocation, globals, recursion or division, and nothing from the C
 * library but stddef.h and stdint.h. See docs/devices.md for stack use and timings, docs/file-format.md for the file
 * format. Licensed under MIT or Apache-2.0, at your option.
 */
#ifndef BINFM_H
#define BINFM_H

#include <stddef.h>
#include <stdint.h>

/* ======== Configuration ========================================================================================== */

/* Reads one byte of the model, which AVR keeps in flash. Define BINFM_BYTE before including this file to override. */
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

/* Define BINFM_STRICT before including this file to have binfm_check enforce every rule of the format. */

/* Number of columns counted at once, 8 or 32: the width of a register. */
#ifndef BINFM_WORD_BITS
#ifdef __AVR__
#define BINFM_WORD_BITS 8u
#else
#define BINFM_WORD_BITS 32u
#endif
#endif

/* Chosen by measurement: optimizing for size, compilers inline too little here, and so much there that they spill. */
#if defined(__GNUC__) && !defined(BINFM_PLAIN_C)
#define BINFM_SMALL static inline __attribute__((always_inline))
#define BINFM_LARGE static __attribute__((noinline, unused))
#else
#define BINFM_SMALL static inline
#define BINFM_LARGE static inline
#endif

/* ======== Status codes, limits and buffer size =================================================================== */

/* Result of binfm_check and binfm_selftest. */
typedef enum {
    BINFM_OK = 0,
    BINFM_BAD_LENGTH,   /* the length differs from the one stored in the model */
    BINFM_BAD_MAGIC,    /* not a model */
    BINFM_BAD_VERSION,  /* a format version this runtime does not support */
    BINFM_BAD_CHECKSUM, /* the model is damaged */
    BINFM_BAD_FORMAT,   /* the model violates a rule of the format */
    BINFM_TOO_LARGE,    /* a valid model that exceeds the limits below */
    BINFM_BAD_SCORE     /* self-test: a score differs from Python's */
} binfm_status;

/*
 * Limits: the file is smaller than 4 MiB; at most A = 65,535 rows are active at once; m * A^2 is below 2^32; and, so that
 * scores fit in 64 bits, the pair term of every score is below 2^61 and A * 2^(bits of w) is below 2^21, which keeps the
 * linear term below 2^61.
 */
#define BINFM_MOST_BYTES 0x3fffffu
#define BINFM_MOST_ROWS 0xffffffu
#define BINFM_MOST_ACTIVE 0xffffu
#define BINFM_MOST_LINEAR 0x1fffffu
#define BINFM_SCORE_BITS 61u

/*
 * Length of the `active` buffer: the number of active features, the offset of the parameter bits in the model, and one
 * start per active feature. A start is the first of the `tilings` consecutive rows that a value activates.
 */
#define BINFM_ACTIVE(features) ((features) + 2u)

/* ======== File layout, see docs/file-format.md =================================================================== */

#define BINFM_MAGIC 0x0a4d46b1u
#define BINFM_VERSION 1u
#define BINFM_MOST_SHIFT 24u
#define BINFM_MOST_EXPONENT 1022
#define BINFM_AT_VERSION 4u
#define BINFM_AT_FLAGS 5u
#define BINFM_AT_LENGTH 6u
#define BINFM_AT_FEATURES 10u
#define BINFM_AT_FACTORS 14u
#define BINFM_AT_OUTPUTS 16u
#define BINFM_AT_TILINGS 18u
#define BINFM_AT_LOSS 19u
#define BINFM_AT_SHIFT_A 20u /* bits 0-4; bits 5-7 are the number of bits of w, less one */
#define BINFM_AT_SHIFT_C 21u
#define BINFM_AT_SHIFT_BIAS 22u
#define BINFM_AT_EXPONENT 23u
#define BINFM_AT_USUAL 25u
#define BINFM_AT_SCALES 27u
#define BINFM_CHECKSUM_BYTES 4u
#define BINFM_SHIFT 31u
#define BINFM_W_BITS_SHIFT 5u
/* File flags. */
#define BINFM_ZERO_IS_ABSENT 1u
#define BINFM_HAS_LABELS 2u
#define BINFM_HAS_UNUSED 4u
#define BINFM_HAS_NAMES 8u
#define BINFM_HAS_CARD 16u
#define BINFM_FLAGS 31u
/* Tag, the first byte of a feature record: kind, copies, missing cell; the meaning of bits 4-7 depends on the kind. */
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
/* Spacing of a feature's one-byte edge codes. */
#define BINFM_FORM 3u
#define BINFM_UNSIGNED 0u
#define BINFM_SIGNED 1u
#define BINFM_LOGARITHMIC 2u
/* Losses. */
#define BINFM_SQUARED 3u
#define BINFM_SOFTMAX 4u
#define BINFM_MOST_LOSS 7u

/* ======== Reading integers ======================================================================================= */

BINFM_SMALL uint16_t binfm_u16(const uint8_t *at)
{
    return (uint16_t)(BINFM_BYTE(at) | ((uint16_t)BINFM_BYTE(at + 1) << 8));
}

BINFM_LARGE uint32_t binfm_u32(const uint8_t *at)
{
    return binfm_u16(at) | ((uint32_t)binfm_u16(at + 2) << 16);
}

/* Read a signed integer of 1 to 8 bytes. */
BINFM_LARGE int64_t binfm_signed(const uint8_t *at, uint_fast8_t width)
{
    uint64_t value = ((BINFM_BYTE(at + (width - 1u)) & 0x80u) != 0u) ? ~(uint64_t)0 : 0u;
    uint_fast8_t i;

    for (i = width; i > 0u; i--) {
        value = (value << 8) | BINFM_BYTE(at + (i - 1u));
    }
    return (int64_t)value;
}

/* Read a count that binfm_check_count has accepted; return the byte after it. */
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

/* ======== Header fields ========================================================================================== */

/* Number of features, which is the length of x. */
static inline uint32_t binfm_features(const uint8_t *model)
{
    return binfm_u32(model + BINFM_AT_FEATURES);
}

/* Number of outputs: one for regression and for two classes, otherwise one per class. */
BINFM_SMALL uint16_t binfm_outputs(const uint8_t *model)
{
    return binfm_u16(model + BINFM_AT_OUTPUTS);
}

/* Whether a loss is one of regression: all from the squared one on, but not the softmax. */
BINFM_SMALL uint_fast8_t binfm_is_regression(uint_fast8_t loss)
{
    return ((loss >= BINFM_SQUARED) && (loss != BINFM_SOFTMAX)) ? 1u : 0u;
}

/* Number of classes; 0 for regression. */
static inline uint16_t binfm_classes(const uint8_t *model)
{
    const uint16_t outputs = binfm_outputs(model);

    if (outputs > 1u) {
        return outputs;
    }
    return (binfm_is_regression(BINFM_BYTE(model + BINFM_AT_LOSS)) != 0u) ? 0u : 2u;
}

/* Scores are in units of 2^-binfm_exponent(). */
static inline int16_t binfm_exponent(const uint8_t *model)
{
    return (int16_t)binfm_u16(model + BINFM_AT_EXPONENT);
}

/* Number of bits of a w, 1 to 8. */
BINFM_SMALL uint_fast8_t binfm_w_bits(const uint8_t *model)
{
    return (uint_fast8_t)((BINFM_BYTE(model + BINFM_AT_SHIFT_A) >> BINFM_W_BITS_SHIFT) + 1u);
}

/* Number of bits of one output in a row: those of w, then the factors. */
BINFM_SMALL uint32_t binfm_output_bits(const uint8_t *model)
{
    return (uint32_t)binfm_w_bits(model) + binfm_u16(model + BINFM_AT_FACTORS);
}

/* Size in bytes of an output's scales: bias, a and c. */
BINFM_SMALL uint_fast8_t binfm_scale_bytes(const uint8_t *model)
{
    return (binfm_outputs(model) == 1u) ? 8u : 2u;
}

BINFM_SMALL const uint8_t *binfm_after_scales(const uint8_t *model)
{
    return model + BINFM_AT_SCALES + ((size_t)binfm_scale_bytes(model) * binfm_outputs(model));
}

/* ======== Values, handled as the bits of a float32 =============================================================== */

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

/* Bits of the float32 equal to an integer. */
static inline uint32_t binfm_bits_of_i16(int16_t x)
{
    const uint32_t sign = (x < 0) ? 0x80000000u : 0u;
    uint16_t magnitude = (uint16_t)((x < 0) ? (0u - (uint16_t)x) : (uint16_t)x);
    uint_fast8_t exponent = 127u + 15u;

    if (magnitude == 0u) {
        return 0u;
    }
    while ((magnitude & 0x8000u) == 0u) {
        magnitude = (uint16_t)(magnitude << 1);
        exponent--;
    }
    return sign | ((uint32_t)exponent << 23) | ((uint32_t)(magnitude & 0x7fffu) << 8);
}

/* These test the top byte first: it nearly always decides, and a 32-bit comparison is slow on an 8-bit CPU. */
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

/* ======== Cells of numeric features: the number of edges <= value ================================================ */

/*
 * One-byte edges are codes on a grid of up to 256 numbers. The upper two bytes of a float32 (its sign, its exponent and
 * seven bits of its mantissa) are enough to place it on that grid.
 */

/* Exponent field of the numbers whose 8-bit mantissa, hidden bit included, is their code; parameter is -126 to 119. */
#define BINFM_UNIT(parameter) ((uint8_t)((parameter) + 134u))

/* Find the last code <= the number. Returns 0, or -1 if the number is below the grid and 1 if it is beyond the grid. */
BINFM_SMALL int_fast8_t binfm_to_code(uint_fast8_t form, uint8_t parameter, uint16_t upper, uint8_t *code)
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

/* Count the codes <= the number, out of 1 to 256. Typically there are about 20, for which steps of four are fast. */
BINFM_SMALL size_t binfm_find_code(const uint8_t *codes, size_t count, uint_fast8_t form, uint8_t parameter,
                                   uint16_t upper)
{
    uint_fast8_t remaining = (uint_fast8_t)count;
    const uint8_t *at;
    uint8_t code = 0u;
    const int_fast8_t side = binfm_to_code(form, parameter, upper, &code);

    if (side != 0) {
        return (side < 0) ? 0u : count;
    }
    at = codes;
    while ((remaining > 4u) && (BINFM_BYTE(at + 3) <= code)) {
        at += 4;
        remaining = (uint_fast8_t)(remaining - 4u);
    }
    do {
        if (BINFM_BYTE(at) > code) {
            break;
        }
        at++;
        remaining--;
    } while (remaining != 0u);
    return (size_t)(at - codes);
}

/* Sort key: keys compare as unsigned integers the way the numbers do. */
BINFM_SMALL uint32_t binfm_key(uint32_t bits)
{
    return ((bits & 0x80000000u) != 0u) ? ~bits : (bits | 0x80000000u);
}

/* Key of an edge stored as its `width` leading bytes. */
BINFM_SMALL uint32_t binfm_edge_key(const uint8_t *at, uint_fast8_t width)
{
    uint32_t key = 0u;
    uint_fast8_t i;

    for (i = 0u; i < width; i++) {
        key = (key >> 8) | ((uint32_t)BINFM_BYTE(at + i) << 24);
    }
    return key;
}

/* Count the two-byte edges <= key, out of at most 255. */
BINFM_SMALL size_t binfm_find_short_edge(const uint8_t *edges, uint_fast8_t count, uint16_t key)
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

/* Count the edges <= key. */
BINFM_LARGE size_t binfm_find_edge(const uint8_t *edges, size_t count, uint_fast8_t width, uint32_t key)
{
    const uint16_t upper = (uint16_t)(key >> 16);
    size_t low = 0u;
    size_t high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2u;
        const uint8_t *at = edges + (middle * width);
        const uint16_t edge = binfm_u16(at + (width - 2u));

        if ((edge > upper) || ((edge == upper) && (width > 2u) && (binfm_edge_key(at, width) > key))) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

/* ======== Cells of categorical features ========================================================================== */

/* Stand-ins for a cell: the value activates nothing, or is NaN. */
#define BINFM_NONE ((size_t)-1)
#define BINFM_NAN ((size_t)-2)
#define BINFM_NOT_WHOLE ((int64_t)((uint64_t)1 << 63))

/* Convert a float32 to an integer; BINFM_NOT_WHOLE if it has a fraction or its magnitude is 2^63 or more. */
static inline int64_t binfm_to_integer(uint32_t bits)
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

/* Cell of a category, or BINFM_NONE if it is unknown. Width 0 means that the categories are 0, 1, 2, ... */
BINFM_LARGE size_t binfm_find_category(const uint8_t *categories, size_t count, uint_fast8_t width, uint32_t bits)
{
    const int64_t value = binfm_to_integer(bits);
    size_t low = 0u;
    size_t high = count;

    if (width == 0u) {
        return ((value >= 0) && (value < (int64_t)count)) ? (size_t)value : BINFM_NONE;
    }
    while ((low < high) && (value != BINFM_NOT_WHOLE)) {
        const size_t middle = (low + high) / 2u;
        const int64_t category = binfm_signed(categories + (middle * width), width);

        if (category == value) {
            return middle;
        }
        if (category > value) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return BINFM_NONE;
}

/* ======== Feature records ======================================================================================== */

BINFM_LARGE const uint8_t *binfm_skip_strings(const uint8_t *strings, size_t count)
{
    const uint8_t *at = strings;
    size_t i;

    for (i = 0u; i < count; i++) {
        size_t bytes;

        at = binfm_read_count(at, &bytes);
        at += bytes;
    }
    return at;
}

typedef struct {
    const uint8_t *entries; /* edges or categories */
    size_t count;
    uint_fast8_t tag;
} binfm_record;

/* Size in bytes of an edge or category; 0 for strings, whose length varies. */
BINFM_SMALL uint_fast8_t binfm_entry_width(uint_fast8_t tag)
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

/* Values that a record may omit: the most common number of edges, and the latest parameter of each form of codes. */
typedef struct {
    uint16_t edge_count;
    uint8_t parameter[BINFM_FORM + 1u]; /* the last element is unused: form 3 does not exist */
} binfm_defaults;

/* Read a record up to its entries. */
BINFM_SMALL void binfm_read_record(const uint8_t *at, binfm_defaults *defaults, binfm_record *record)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint_fast8_t form = (uint_fast8_t)((tag >> 4) & BINFM_FORM);

    record->tag = tag;
    record->entries = at + 1;
    record->count = defaults->edge_count;
    if ((tag & (BINFM_KIND | BINFM_OWN_PARAMETER)) == (BINFM_CODES | BINFM_OWN_PARAMETER)) {
        defaults->parameter[form] = BINFM_BYTE(record->entries);
        record->entries++;
    }
    if ((tag & (BINFM_WHOLE | BINFM_OWN_COUNT)) != 0u) {
        record->entries = binfm_read_count(record->entries, &record->count);
    }
}

BINFM_SMALL const uint8_t *binfm_after_record(const binfm_record *record)
{
    if ((record->tag & BINFM_KIND) == BINFM_CODES) {
        return record->entries + record->count;
    }
    if ((record->tag & BINFM_KIND) == BINFM_TEXT) {
        return binfm_skip_strings(record->entries, record->count);
    }
    return record->entries + (record->count * binfm_entry_width(record->tag));
}

/* ======== Encoding: from a sample to its active rows ============================================================= */

/* Cell of a numeric value other than NaN. */
BINFM_SMALL size_t binfm_find_interval(const binfm_record *record, const uint8_t *parameter, uint32_t bits)
{
    const uint_fast8_t form = (uint_fast8_t)((record->tag >> 4) & BINFM_FORM);
    const uint16_t upper = (uint16_t)(bits >> 16);

    if ((record->tag & BINFM_KIND) == BINFM_CODES) {
        return binfm_find_code(record->entries, record->count, form, parameter[form], upper);
    }
    if ((form == 1u) && (record->count < 256u)) { /* two-byte edges */
        return binfm_find_short_edge(record->entries, (uint_fast8_t)record->count, (uint16_t)(binfm_key(bits) >> 16));
    }
    return binfm_find_edge(record->entries, record->count, binfm_entry_width(record->tag), binfm_key(bits));
}

/* State carried from one feature to the next. */
typedef struct {
    const uint8_t *at; /* next record */
    uint32_t *start;   /* where to write its start */
    size_t row;        /* its first row */
    uint32_t row_size; /* size of a row in 1/32 bit, that is 1/256 byte */
    uint_fast8_t tilings;
    uint_fast8_t flags;
    binfm_defaults defaults;
} binfm_encoder;

/* Cell of a value other than NaN, or BINFM_NONE. */
BINFM_SMALL size_t binfm_find_cell(const binfm_encoder *encoder, const binfm_record *record, uint32_t value)
{
    const uint_fast8_t is_zero = binfm_is_zero(value);
    const uint32_t bits = (is_zero != 0u) ? 0u : value; /* -0.0 counts as 0.0 */

    if ((is_zero != 0u) && ((encoder->flags & BINFM_ZERO_IS_ABSENT) != 0u)) {
        return BINFM_NONE;
    }
    if ((record->tag & BINFM_WHOLE) != 0u) { /* also set in BINFM_TEXT */
        return binfm_find_category(record->entries, record->count, binfm_entry_width(record->tag), bits);
    }
    return binfm_find_interval(record, encoder->defaults.parameter, bits);
}

/* Encode the value of the next used feature. */
BINFM_SMALL void binfm_encode_value(binfm_encoder *encoder, uint32_t value)
{
    binfm_record record;
    size_t cell;
    size_t rows;

    binfm_read_record(encoder->at, &encoder->defaults, &record);
    encoder->at = binfm_after_record(&record);
    cell = (binfm_is_nan(value) != 0u) ? BINFM_NAN : binfm_find_cell(encoder, &record, value);
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

/* Encode floats, or integers if `is_integer` is set. */
BINFM_SMALL void binfm_encode_sample(const uint8_t *model, const float *floats, const int16_t *integers,
                                     uint_fast8_t is_integer, uint32_t *active)
{
    const size_t features = (size_t)binfm_features(model);
    const uint8_t *mask = NULL;
    binfm_encoder encoder;
    uint8_t bits = 0u;
    size_t i;

    encoder.at = binfm_after_scales(model);
    encoder.start = active + 2u;
    encoder.row = 0u;
    encoder.row_size = (binfm_outputs(model) * binfm_output_bits(model)) << 5;
    encoder.tilings = BINFM_BYTE(model + BINFM_AT_TILINGS);
    encoder.flags = BINFM_BYTE(model + BINFM_AT_FLAGS);
    encoder.defaults.edge_count = binfm_u16(model + BINFM_AT_USUAL);
    encoder.defaults.parameter[BINFM_UNSIGNED] = 0u;
    encoder.defaults.parameter[BINFM_SIGNED] = 0u;
    encoder.defaults.parameter[BINFM_LOGARITHMIC] = 0u;
    if ((encoder.flags & BINFM_HAS_UNUSED) != 0u) {
        mask = encoder.at;
        encoder.at += ((features - 1u) / 8u) + 1u;
    }
    for (i = 0u; i < features; i++) {
        uint_fast8_t is_used = 1u;

        if (mask != NULL) {
            if ((i % 8u) == 0u) {
                bits = BINFM_BYTE(mask);
                mask++;
            }
            is_used = (uint_fast8_t)(bits & 1u);
            bits = (uint8_t)(bits >> 1);
        }
        if (is_used != 0u) {
            binfm_encode_value(&encoder,
                               (is_integer != 0u) ? binfm_bits_of_i16(integers[i]) : binfm_bits_of_float(&floats[i]));
        }
    }
    active[0] = (uint32_t)(size_t)(encoder.start - active) - 2u;
    active[1] = (uint32_t)(size_t)(encoder.at - model);
}

/* Find the rows that a sample activates and store them in `active`, for binfm_score and binfm_class. */
BINFM_LARGE void binfm_encode(const uint8_t *model, const float *x, uint32_t *active)
{
    binfm_encode_sample(model, x, NULL, 0u, active);
}

/* The same for integers; scores are identical to those of the equal floats. */
BINFM_LARGE void binfm_encode_i16(const uint8_t *model, const int16_t *x, uint32_t *active)
{
    binfm_encode_sample(model, NULL, x, 1u, active);
}

/* ======== Scoring: from active rows to scores and a class ======================================================== */

/*
 * If c of the A active rows are +1 in a column and the other A - c are -1, then c * (A - c) pairs of rows disagree in
 * that column. Q is the number of pairs that agree minus the number that disagree, summed over all m columns:
 *
 *     Q = m * A * (A - 1) / 2  -  2 * sum of c * (A - c)
 *
 * Bit i of w stands for +2^i or -2^i, so with c counted in the same way
 *
 *     L = sum of 2^i * (2 * c - A)
 *
 * over the bits of w. Every bit of a row is a column: for each output those of w, then the factors. One pass over the
 * active rows counts as many columns as fit into registers, whichever outputs they belong to: the columns of a word and
 * the one before it.
 */
#define BINFM_COLUMNS (BINFM_WORD_BITS + 1u)

/*
 * Lanes count in registers: lane i counts column i of a word and, if a word has 32 bits, columns i + 8, i + 16 and
 * i + 24, in a byte each.
 */
#define BINFM_LANE_MOST 255u
#if BINFM_WORD_BITS == 8u
typedef uint8_t binfm_word;
#define BINFM_COUNT(lane, word, bit)      \
    if (((word) & (1u << (bit))) != 0u) { \
        (lane)++;                         \
    }
#define BINFM_STORE(column, lane) counts[column] = (lane);
#else
typedef uint32_t binfm_word;
#define BINFM_COUNT(lane, word, bit) (lane) += ((word) >> (bit)) & 0x01010101u;
#define BINFM_STORE(column, lane) binfm_store_lane(&counts[column], (lane));
#endif

/* Scores the outputs one after the other. */
typedef struct {
    const uint8_t *model;
    const uint32_t *active;
    const uint8_t *scales;     /* of the next output */
    uint_fast8_t scale_bytes;
    const uint8_t *bits;       /* of the first row, where the next columns to count begin */
    uint_fast8_t first;        /* and at which bit, below 8 */
    size_t step_bytes;         /* distance between rows: whole bytes */
    uint_fast8_t step_bits;    /* and remaining bits, below 8 */
    uint_fast8_t tilings;
    uint_fast8_t block;        /* features whose rows the lanes can count */
    uint_fast8_t unread;       /* columns that were counted and not used yet */
    uint_fast16_t active_rows;
    uint16_t counts[BINFM_COLUMNS];
} binfm_scorer;

/*
 * Load the word that follows a bit, and that bit itself. In the last row this reads up to four bytes past the parameter
 * bits, which is safe: the four bytes of the checksum follow them.
 */
BINFM_SMALL binfm_word binfm_load_word(const uint8_t *at, uint_fast8_t bit, uint_fast8_t *is_set)
{
#if BINFM_WORD_BITS == 8u
    uint8_t scale = 0x80u; /* on AVR a multiplication shifts by any distance in two cycles */
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
    *is_set = ((low & 0x80u) != 0u) ? 1u : 0u;
    return (uint8_t)((low >> 8) | (uint8_t)(BINFM_BYTE(at + 1) * scale));
#else
    const uint32_t low = (binfm_u16(at) | ((uint32_t)binfm_u16(at + 2) << 16)) >> bit;

    *is_set = (uint_fast8_t)(low & 1u);
    return (low >> 1) | ((uint32_t)BINFM_BYTE(at + 4) << (31u - bit));
#endif
}

#if BINFM_WORD_BITS != 8u
/* Write the counts of a lane's columns. */
BINFM_LARGE void binfm_store_lane(uint16_t *counts, uint32_t lane)
{
    counts[0] = (uint16_t)(lane & 0xffu);
    counts[8] = (uint16_t)((lane >> 8) & 0xffu);
    counts[16] = (uint16_t)((lane >> 16) & 0xffu);
    counts[24] = (uint16_t)(lane >> 24);
}
#endif

/* Count the next columns over the rows of some features, at most BINFM_LANE_MOST rows. */
BINFM_LARGE void binfm_count_block(const binfm_scorer *scorer, const uint32_t *starts, uint_fast8_t features,
                                   uint16_t *counts)
{
    binfm_word c0 = 0u;
    binfm_word c1 = 0u;
    binfm_word c2 = 0u;
    binfm_word c3 = 0u;
    binfm_word c4 = 0u;
    binfm_word c5 = 0u;
    binfm_word c6 = 0u;
    binfm_word c7 = 0u;
    const size_t step_bytes = scorer->step_bytes;
    const uint_fast8_t step_bits = scorer->step_bits;
    const uint8_t *bits = scorer->bits;
    const uint32_t *start = starts;
    const uint_fast8_t first = scorer->first;
    const uint_fast8_t tilings = scorer->tilings;
    uint_fast8_t preceding = 0u;
    uint_fast8_t i;

    for (i = features; i > 0u; i--) {
        const uint8_t *at = bits + (size_t)(*start >> 8);
        uint_fast8_t bit = (uint_fast8_t)(((uint8_t)*start >> 5) + first);
        uint_fast8_t remaining = tilings;

        start++;
        for (;;) {
            binfm_word word;
            uint_fast8_t is_set;

            if (bit > 7u) {
                bit = (uint_fast8_t)(bit - 8u);
                at++;
            }
            word = binfm_load_word(at, bit, &is_set);
            if (is_set != 0u) {
                preceding++;
            }
            BINFM_COUNT(c0, word, 0) BINFM_COUNT(c1, word, 1) BINFM_COUNT(c2, word, 2) BINFM_COUNT(c3, word, 3)
            BINFM_COUNT(c4, word, 4) BINFM_COUNT(c5, word, 5) BINFM_COUNT(c6, word, 6) BINFM_COUNT(c7, word, 7)
            remaining--;
            if (remaining == 0u) {
                break;
            }
            at += step_bytes;
            bit = (uint_fast8_t)(bit + step_bits);
        }
    }
    counts[0] = preceding;
    BINFM_STORE(1, c0) BINFM_STORE(2, c1) BINFM_STORE(3, c2) BINFM_STORE(4, c3)
    BINFM_STORE(5, c4) BINFM_STORE(6, c5) BINFM_STORE(7, c6) BINFM_STORE(8, c7)
}

/* Count the next columns over all active rows, in blocks of features that the lanes can count. */
BINFM_LARGE void binfm_count_columns(binfm_scorer *scorer)
{
    const uint32_t *start = scorer->active + 2u;
    uint_fast16_t remaining = (uint_fast16_t)scorer->active[0];
    uint_fast8_t taken = (remaining < scorer->block) ? (uint_fast8_t)remaining : scorer->block;

    binfm_count_block(scorer, start, taken, scorer->counts);
    for (;;) {
        uint16_t counts[BINFM_COLUMNS];
        uint_fast8_t i;

        start += taken;
        remaining = (uint_fast16_t)(remaining - taken);
        if (remaining == 0u) {
            break;
        }
        taken = (remaining < scorer->block) ? (uint_fast8_t)remaining : scorer->block;
        binfm_count_block(scorer, start, taken, counts);
        for (i = 0u; i < BINFM_COLUMNS; i++) {
            scorer->counts[i] = (uint16_t)(scorer->counts[i] + counts[i]);
        }
    }
    scorer->first = (uint_fast8_t)(scorer->first + BINFM_COLUMNS);
    scorer->bits += scorer->first >> 3;
    scorer->first &= 7u;
    scorer->unread = BINFM_COLUMNS;
}

/* Where the counts of the next columns are; `columns` says how many are wanted, and then how many there are. */
BINFM_SMALL const uint16_t *binfm_take_counts(binfm_scorer *scorer, uint_fast8_t *columns)
{
    const uint16_t *counts;

    if (scorer->unread == 0u) {
        binfm_count_columns(scorer);
    }
    counts = &scorer->counts[BINFM_COLUMNS - scorer->unread];
    if (*columns > scorer->unread) {
        *columns = scorer->unread;
    }
    scorer->unread = (uint_fast8_t)(scorer->unread - *columns);
    return counts;
}

/* L of the next output. */
BINFM_SMALL int32_t binfm_linear_term(binfm_scorer *scorer)
{
    const uint_fast8_t w_bits = binfm_w_bits(scorer->model);
    uint32_t L = 0u; /* modulo 2^32 */
    uint_fast8_t i;

    for (i = 0u; i < w_bits; i++) {
        uint_fast8_t columns = 1u;
        const uint16_t count = *binfm_take_counts(scorer, &columns);

        L += ((2u * (uint32_t)count) - (uint32_t)scorer->active_rows) << i;
    }
    return (int32_t)L;
}

/* Q of the next output, of which L has been read. */
BINFM_LARGE int32_t binfm_pair_term(binfm_scorer *scorer)
{
    const uint_fast16_t active_rows = scorer->active_rows;
    const uint16_t factors = binfm_u16(scorer->model + BINFM_AT_FACTORS);
    uint16_t remaining = factors;
    uint32_t disagreements = 0u;

    while (remaining > 0u) {
        uint_fast8_t columns = (remaining < BINFM_COLUMNS) ? (uint_fast8_t)remaining : (uint_fast8_t)BINFM_COLUMNS;
        const uint16_t *count = binfm_take_counts(scorer, &columns);

        remaining = (uint16_t)(remaining - columns);
        for (; columns > 0u; columns--) {
            disagreements += (uint32_t)*count * (uint16_t)(active_rows - *count);
            count++;
        }
    }
    return (int32_t)((((uint32_t)active_rows * ((uint32_t)active_rows - 1u)) / 2u) * factors) -
           (int32_t)(2u * disagreements);
}

/* Begin with an output. */
BINFM_SMALL void binfm_begin(const uint8_t *model, const uint32_t *active, uint16_t output, binfm_scorer *scorer)
{
    const uint32_t output_bits = binfm_output_bits(model);
    const uint32_t row_bits = binfm_outputs(model) * output_bits;
    const uint32_t first = output * output_bits;

    scorer->model = model;
    scorer->active = active;
    scorer->scale_bytes = binfm_scale_bytes(model);
    scorer->scales = model + BINFM_AT_SCALES + ((size_t)scorer->scale_bytes * output);
    scorer->step_bytes = (size_t)(row_bits >> 3);
    scorer->step_bits = (uint_fast8_t)(row_bits & 7u);
    scorer->tilings = BINFM_BYTE(model + BINFM_AT_TILINGS);
    scorer->active_rows = (uint_fast16_t)(active[0] * scorer->tilings);
    scorer->bits = model + (size_t)active[1] + (size_t)(first >> 3);
    scorer->first = (uint_fast8_t)(first & 7u);
    scorer->unread = 0u;
    scorer->block = 128u;
    while (((uint_fast16_t)scorer->block * scorer->tilings) > BINFM_LANE_MOST) {
        scorer->block >>= 1;
    }
}

/* value * multiplier * 2^shift */
BINFM_LARGE uint64_t binfm_scaled(int32_t value, uint16_t multiplier, uint_fast8_t shift)
{
    return (uint64_t)((int64_t)value * (int64_t)multiplier) << shift;
}

/* Score of the next output, in units of 2^-binfm_exponent(). */
BINFM_LARGE int64_t binfm_next_score(binfm_scorer *scorer)
{
    const uint8_t *model = scorer->model;
    const uint8_t *scales = scorer->scales;
    const uint_fast8_t is_wide = (scorer->scale_bytes == 8u) ? 1u : 0u;
    const int32_t bias = (is_wide != 0u) ? (int32_t)binfm_u32(scales) : (int8_t)BINFM_BYTE(scales);
    const uint16_t a = (is_wide != 0u) ? binfm_u16(scales + 4) : (BINFM_BYTE(scales + 1) & 15u);
    const uint16_t c = (is_wide != 0u) ? binfm_u16(scales + 6) : (BINFM_BYTE(scales + 1) >> 4);
    /* Without active rows there is nothing to count: a file of any size may declare any number of factors. */
    const int32_t L = (scorer->active_rows == 0u) ? 0 : binfm_linear_term(scorer);
    const int32_t Q = (scorer->active_rows == 0u) ? 0 : binfm_pair_term(scorer);
    uint64_t score;

    scorer->scales += scorer->scale_bytes;
    score = (uint64_t)(int64_t)bias << BINFM_BYTE(model + BINFM_AT_SHIFT_BIAS);
    score += binfm_scaled(L, a, BINFM_BYTE(model + BINFM_AT_SHIFT_A) & BINFM_SHIFT);
    score += binfm_scaled(Q, c, BINFM_BYTE(model + BINFM_AT_SHIFT_C));
    return (int64_t)score;
}

/* Score of one output. For all of them, binfm_scores is faster. */
static inline int64_t binfm_score(const uint8_t *model, const uint32_t *active, uint16_t output)
{
    binfm_scorer scorer;

    binfm_begin(model, active, output, &scorer);
    return binfm_next_score(&scorer);
}

/* Scores of all outputs: binfm_outputs() of them. */
static inline void binfm_scores(const uint8_t *model, const uint32_t *active, int64_t *scores)
{
    const uint16_t outputs = binfm_outputs(model);
    binfm_scorer scorer;
    uint16_t i;

    binfm_begin(model, active, 0u, &scorer);
    for (i = 0u; i < outputs; i++) {
        scores[i] = binfm_next_score(&scorer);
    }
}

/*
 * The class with the highest score, or the first of those that tie. With two classes: 1 if the score is positive, else
 * 0. Meaningless for regression.
 */
static inline uint16_t binfm_class(const uint8_t *model, const uint32_t *active)
{
    const uint16_t outputs = binfm_outputs(model);
    binfm_scorer scorer;
    uint16_t winner = 0u;
    int64_t best;
    uint16_t i;

    binfm_begin(model, active, 0u, &scorer);
    best = binfm_next_score(&scorer);
    if (outputs == 1u) {
        return (best > 0) ? 1u : 0u;
    }
    for (i = 1u; i < outputs; i++) {
        const int64_t score = binfm_next_score(&scorer);

        if (score > best) {
            best = score;
            winner = i;
        }
    }
    return winner;
}

/* Predict the class of a sample. */
static inline uint16_t binfm_predict(const uint8_t *model, const float *x, uint32_t *active)
{
    binfm_encode(model, x, active);
    return binfm_class(model, active);
}

/* Predict the class of a sample of integers. */
static inline uint16_t binfm_predict_i16(const uint8_t *model, const int16_t *x, uint32_t *active)
{
    binfm_encode_i16(model, x, active);
    return binfm_class(model, active);
}

/* ======== Validating a model ===================================================================================== */

/*
 * binfm_check verifies everything that scoring relies on. BINFM_STRICT adds the rules of the format that make no
 * difference here, such as that edges have the shortest encoding: with it, binfm_check rejects what Python rejects.
 *
 * A function that returns a pointer checks one part of the file and returns the byte after it, or NULL if the part
 * violates a rule. `end` is where the checksum begins. Its four bytes are readable too, so binfm_check_count may read
 * up to five bytes before it compares with `end`.
 */

static inline uint32_t binfm_remaining(const uint8_t *at, const uint8_t *end)
{
    return (uint32_t)(size_t)(end - at);
}

/* Check that an array lies before `end`. */
static inline const uint8_t *binfm_check_array(const uint8_t *at, const uint8_t *end, uint32_t count,
                                               uint_fast8_t width)
{
    const uint32_t remaining = binfm_remaining(at, end);

    return ((count <= remaining) && ((count * width) <= remaining)) ? (at + (size_t)(count * width)) : NULL;
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
    return binfm_check_array(at, end, size, 1u);
}

/* Check that strings lie before `end`. */
static inline const uint8_t *binfm_check_lengths(const uint8_t *strings, const uint8_t *end, uint32_t count)
{
    const uint8_t *at = strings;
    uint32_t i;

    for (i = 0u; (i < count) && (at != NULL); i++) {
        uint32_t length;

        at = binfm_check_count(at, end, &length);
        if (at != NULL) {
            at = binfm_check_array(at, end, length, 1u);
        }
    }
    return at;
}

/* Numeric features have edges, or no edges and width 0. Categories have 0, 1, 2, 4 or 8 bytes, text has 0. */
static inline uint_fast8_t binfm_check_width(uint_fast8_t tag, uint32_t count)
{
    const uint_fast8_t width = binfm_entry_width(tag);

    if ((tag & BINFM_WHOLE) == 0u) {
        if ((tag & (BINFM_KIND | (BINFM_FORM << 4))) == (BINFM_CODES | (BINFM_FORM << 4))) {
            return 0u; /* no such form */
        }
        return ((width == 0u) == (count == 0u)) ? 1u : 0u;
    }
    if ((tag & BINFM_KIND) == BINFM_TEXT) {
        return ((width == 0u) && (count > 0u)) ? 1u : 0u;
    }
    return ((count > 0u) && (width <= 8u) && ((width & (width - 1u)) == 0u)) ? 1u : 0u;
}

/* Check a record and add its number of rows to `rows`. */
static inline const uint8_t *binfm_check_record(const uint8_t *at, const uint8_t *end, uint32_t tilings,
                                                uint16_t edge_count, uint32_t *rows)
{
    const uint_fast8_t tag = BINFM_BYTE(at);
    const uint8_t *next = at + 1;
    uint32_t count = edge_count;

    if ((tag & (BINFM_KIND | BINFM_OWN_PARAMETER)) == (BINFM_CODES | BINFM_OWN_PARAMETER)) {
        next++;
    }
    if ((tag & (BINFM_WHOLE | BINFM_OWN_COUNT)) != 0u) {
        next = binfm_check_count(next, end, &count);
    }
    if ((next == NULL) || (next > end) || (binfm_check_width(tag, count) == 0u)) {
        return NULL;
    }
    if ((tag & BINFM_KIND) == BINFM_TEXT) {
        next = binfm_check_lengths(next, end, count);
    } else if (binfm_entry_width(tag) != 0u) {
        next = binfm_check_array(next, end, count, binfm_entry_width(tag));
    } else {
        /* no entries */
    }
    if ((tag & BINFM_WHOLE) != 0u) {
        count--;
    }
    if (count > BINFM_MOST_ROWS) { /* more rows than a file can hold */
        return NULL;
    }
    *rows += count * (((tag & BINFM_COPIES) != 0u) ? tilings : 1u);
    *rows += tilings * (((tag & BINFM_MISSING) != 0u) ? 2u : 1u);
    return (*rows > BINFM_MOST_ROWS) ? NULL : next;
}

/* Check all features; write how many are used and how many rows they have. */
static inline const uint8_t *binfm_check_features(const uint8_t *model, const uint8_t *end, uint32_t *used,
                                                  uint32_t *rows)
{
    const uint32_t features = binfm_features(model);
    const uint8_t *at = binfm_after_scales(model);
    const uint8_t *mask = at;
    uint32_t i;

    *used = features;
    *rows = 0u;
    if ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_UNUSED) != 0u) {
        at = binfm_check_array(at, end, ((features - 1u) / 8u) + 1u, 1u);
        if (at == NULL) {
            return NULL;
        }
        *used = 0u;
        for (i = 0u; i < features; i++) {
            *used += ((uint32_t)BINFM_BYTE(mask + (size_t)(i / 8u)) >> (i % 8u)) & 1u;
        }
    }
    for (i = *used; i > 0u; i--) {
        if ((at == NULL) || (at >= end)) {
            return NULL;
        }
        at = binfm_check_record(at, end, BINFM_BYTE(model + BINFM_AT_TILINGS), binfm_u16(model + BINFM_AT_USUAL), rows);
    }
    return at;
}

/* Check the fixed-size fields, from the flags to the exponent. */
static inline uint_fast8_t binfm_check_header(const uint8_t *model)
{
    const uint16_t outputs = binfm_outputs(model);
    const uint_fast8_t loss = BINFM_BYTE(model + BINFM_AT_LOSS);
    const int16_t exponent = binfm_exponent(model);
    uint_fast8_t i;

    for (i = BINFM_AT_SHIFT_C; i <= BINFM_AT_SHIFT_BIAS; i++) {
        if (BINFM_BYTE(model + i) > BINFM_MOST_SHIFT) {
            return 0u;
        }
    }
    if ((binfm_features(model) == 0u) || ((BINFM_BYTE(model + BINFM_AT_SHIFT_A) & BINFM_SHIFT) > BINFM_MOST_SHIFT)) {
        return 0u;
    }
    if ((outputs == 0u) || (outputs == 2u) || (BINFM_BYTE(model + BINFM_AT_TILINGS) == 0u)) {
        return 0u;
    }
    if ((loss > BINFM_MOST_LOSS) || ((binfm_is_regression(loss) != 0u) && (outputs != 1u)) ||
        ((loss == BINFM_SOFTMAX) && (outputs == 1u))) {
        return 0u;
    }
    if (BINFM_BYTE(model + BINFM_AT_FLAGS) > BINFM_FLAGS) {
        return 0u;
    }
    return ((exponent >= -BINFM_MOST_EXPONENT) && (exponent <= BINFM_MOST_EXPONENT)) ? 1u : 0u;
}

/* Whether a valid model is within the limits of this runtime. */
static inline uint_fast8_t binfm_within_limits(const uint8_t *model, uint32_t used, uint32_t rows)
{
    const uint16_t factors = binfm_u16(model + BINFM_AT_FACTORS);
    const uint32_t active = used * BINFM_BYTE(model + BINFM_AT_TILINGS);
    const uint_fast8_t scale_bytes = binfm_scale_bytes(model);
    const uint8_t *scales = model + BINFM_AT_SCALES;
    const uint32_t cells = rows + 2u; /* with BINFM_NONE and BINFM_NAN */
    uint64_t pairs = (uint64_t)(active * active) * factors;
    uint16_t largest_c = 0u;
    uint16_t i;

    if ((active > BINFM_MOST_ACTIVE) || ((active << binfm_w_bits(model)) > BINFM_MOST_LINEAR)) {
        return 0u;
    }
    if (((pairs >> 32) != 0u) || ((uint32_t)(size_t)cells != cells) ||
        ((uint32_t)(size_t)binfm_features(model) != binfm_features(model))) {
        return 0u;
    }
    for (i = binfm_outputs(model); i > 0u; i--) {
        const uint16_t c = (scale_bytes == 8u) ? binfm_u16(scales + 6) : (BINFM_BYTE(scales + 1) >> 4);

        largest_c = (c > largest_c) ? c : largest_c;
        scales += scale_bytes;
    }
    pairs = (pairs - ((uint64_t)active * factors)) / 2u;
    pairs *= largest_c;
    return ((pairs >> (uint_fast8_t)(BINFM_SCORE_BITS - BINFM_BYTE(model + BINFM_AT_SHIFT_C))) == 0u) ? 1u : 0u;
}

/* CRC-32C (Castagnoli) */
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

#ifdef BINFM_STRICT
/*
 * Edges have one canonical encoding, the first of these that represents them all: codes on a linear grid, or on a
 * logarithmic one if all edges are positive, with the latest parameter of that form; the same with a parameter of their
 * own; leading bytes. The lower two bytes of a code's key are zero, so the functions below use only the upper two.
 */

/* Whether a parameter is in range. That of a linear grid is a signed byte. */
static inline uint_fast8_t binfm_is_valid_grid(uint_fast8_t form, uint8_t parameter)
{
    if (form >= BINFM_LOGARITHMIC) {
        return ((form == BINFM_LOGARITHMIC) && (parameter < 255u)) ? 1u : 0u;
    }
    return ((parameter <= 119u) || (parameter >= 130u)) ? 1u : 0u;
}

/* Edge of a code, or 0 if it is not a finite number. */
BINFM_LARGE uint16_t binfm_code_edge(uint_fast8_t form, uint8_t parameter, uint8_t code)
{
    const uint_fast8_t negative = ((form == BINFM_SIGNED) && (code < 128u)) ? 1u : 0u;
    uint8_t exponent = BINFM_UNIT(parameter);
    uint8_t steps = code;
    uint16_t magnitude;

    if (form == BINFM_LOGARITHMIC) {
        magnitude = (uint16_t)((parameter * 128u) + (code * 8u));
        return (magnitude < 0x7f80u) ? (uint16_t)(magnitude | 0x8000u) : 0u;
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
    magnitude = (uint16_t)((exponent * 128u) + (steps & 0x7fu));
    if (negative != 0u) {
        return (uint16_t)(0x8000u - magnitude);
    }
    return (uint16_t)(0x8000u | magnitude);
}

/* Edge i of a record that holds codes with this parameter, or two-byte edges. */
BINFM_LARGE uint16_t binfm_upper_edge(const binfm_record *record, uint8_t parameter, size_t i)
{
    if ((record->tag & BINFM_KIND) == BINFM_LEADING) {
        return binfm_u16(record->entries + (2u * i));
    }
    return binfm_code_edge((record->tag >> 4) & BINFM_FORM, parameter, BINFM_BYTE(record->entries + i));
}

BINFM_LARGE uint_fast8_t binfm_grid_contains(uint_fast8_t form, uint8_t grid, const binfm_record *record,
                                             uint8_t parameter)
{
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint16_t edge = binfm_upper_edge(record, parameter, i);
        const uint16_t upper = (uint16_t)(edge ^ ((edge >= 0x8000u) ? 0x8000u : 0xffffu));
        uint8_t code = 0u;

        if ((binfm_to_code(form, grid, upper, &code) != 0) || (binfm_code_edge(form, grid, code) != edge)) {
            return 0u;
        }
    }
    return 1u;
}

/* Parameter of the coarsest linear grid that may hold all edges of a record; the caller verifies that it does. */
static inline uint8_t binfm_coarsest_grid(const binfm_record *record, uint8_t parameter)
{
    uint16_t least = 0xffffu;
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint16_t edge = binfm_upper_edge(record, parameter, i);
        const uint16_t offset = (uint16_t)(edge - 0x8000u);
        const uint16_t magnitude = (edge >= 0x8000u) ? offset : (uint16_t)(0u - offset);
        uint16_t unit = (uint16_t)(magnitude >> 7);
        uint8_t steps = (uint8_t)(magnitude | 0x80u);

        while ((steps & 1u) == 0u) {
            steps >>= 1;
            unit++;
        }
        if ((magnitude != 0u) && (unit < least)) {
            least = unit;
        }
    }
    if (least == 0xffffu) {
        return 0u; /* zero is the only edge */
    }
    return (uint8_t)(((least > 253u) ? 253u : least) - 134u);
}

/* Whether the edges of a record, which are codes or two-byte edges, are in canonical encoding. */
static inline uint_fast8_t binfm_is_canonical(const binfm_record *record, uint8_t parameter,
                                              const binfm_defaults *defaults)
{
    const uint16_t first = binfm_upper_edge(record, parameter, 0u);
    const uint8_t coarsest = binfm_coarsest_grid(record, parameter);
    uint_fast8_t candidate;

    for (candidate = 0u; candidate < 4u; candidate++) {
        const uint_fast8_t is_own = (uint_fast8_t)(candidate >> 1); /* the first two candidates reuse a parameter */
        uint_fast8_t form = (first < 0x8000u) ? BINFM_SIGNED : BINFM_UNSIGNED;
        uint8_t grid = coarsest;

        if ((candidate & 1u) != 0u) {
            form = BINFM_LOGARITHMIC;
            grid = (uint8_t)(first >> 7);
        }
        if (is_own == 0u) {
            grid = defaults->parameter[form];
        }
        if (((form != BINFM_LOGARITHMIC) || (first > 0x8000u)) && (binfm_is_valid_grid(form, grid) != 0u) &&
            (binfm_grid_contains(form, grid, record, parameter) != 0u)) {
            const uint_fast8_t tag = (uint_fast8_t)((form * 16u) | ((is_own != 0u) ? BINFM_OWN_PARAMETER : 0u));

            return (((record->tag & BINFM_WAY) == tag) && (parameter == grid)) ? 1u : 0u;
        }
    }
    return ((record->tag & BINFM_KIND) == BINFM_LEADING) ? 1u : 0u;
}

/* Whether values ascend strictly. The bits of float64 values compare as integers, in reverse order if negative. */
static inline uint_fast8_t binfm_is_ascending(const uint8_t *values, uint32_t count, uint_fast8_t width,
                                              uint_fast8_t is_float)
{
    const uint8_t *at = values;
    int64_t previous = 0;
    uint32_t i;

    for (i = 0u; i < count; i++) {
        int64_t value = binfm_signed(at, width);

        if ((is_float != 0u) && (value < 0)) {
            value = (int64_t)(((uint64_t)1 << 63) - (uint64_t)value); /* -0.0 becomes 0.0 */
        }
        if ((i > 0u) && (value <= previous)) {
            return 0u;
        }
        previous = value;
        at += width;
    }
    return 1u;
}

static inline uint_fast8_t binfm_fits_half_width(const uint8_t *value, uint_fast8_t width)
{
    return (binfm_signed(value, width) == binfm_signed(value, (uint_fast8_t)(width / 2u))) ? 1u : 0u;
}

/* Values ascend. Floats are finite. Integers need their full width and are not just 0, 1, 2, ... */
BINFM_LARGE uint_fast8_t binfm_check_values(const uint8_t *values, uint32_t count, uint_fast8_t width,
                                            uint_fast8_t is_float)
{
    const uint8_t *last = values + (size_t)((count - 1u) * width);

    if (binfm_is_ascending(values, count, width, is_float) == 0u) {
        return 0u;
    }
    if (is_float != 0u) { /* in ascending order only the first and last can be infinite or NaN */
        const uint16_t inf = 0x7ff0u;

        return (((binfm_u16(values + 6) & inf) != inf) && ((binfm_u16(last + 6) & inf) != inf)) ? 1u : 0u;
    }
    if ((width > 1u) && (binfm_fits_half_width(values, width) != 0u) && (binfm_fits_half_width(last, width) != 0u)) {
        return 0u;
    }
    return ((binfm_signed(values, width) != 0) || (binfm_signed(last, width) != ((int64_t)count - 1))) ? 1u : 0u;
}

/* Length of the UTF-8 character at `at`, or 0 if it is malformed. */
static inline uint_fast8_t binfm_utf8_length(const uint8_t *at, uint32_t remaining)
{
    const uint_fast8_t lead = BINFM_BYTE(at);
    uint_fast8_t low = 0x80u;
    uint_fast8_t high = 0xbfu;
    uint_fast8_t length = 1u;
    uint_fast8_t i;

    if (lead >= 0x80u) {
        length = (uint_fast8_t)((lead < 0xe0u) ? 2u : ((lead < 0xf0u) ? 3u : 4u));
        /* the range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF */
        low = (uint_fast8_t)((lead == 0xe0u) ? 0xa0u : ((lead == 0xf0u) ? 0x90u : 0x80u));
        high = (uint_fast8_t)((lead == 0xedu) ? 0x9fu : ((lead == 0xf4u) ? 0x8fu : 0xbfu));
        if ((lead < 0xc2u) || (lead > 0xf4u) || (length > remaining)) {
            return 0u;
        }
    }
    for (i = 1u; i < length; i++) {
        const uint_fast8_t byte = BINFM_BYTE(at + i);

        if ((byte < low) || (byte > high)) {
            return 0u;
        }
        low = 0x80u;
        high = 0xbfu;
    }
    return length;
}

/* Whether string a sorts before string b, by bytes. */
static inline uint_fast8_t binfm_is_less(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    uint32_t i = 0u;

    while ((i < a_length) && (i < b_length) && (BINFM_BYTE(a + i) == BINFM_BYTE(b + i))) {
        i++;
    }
    if ((i == a_length) || (i == b_length)) {
        return (b_length > a_length) ? 1u : 0u;
    }
    return (BINFM_BYTE(b + i) > BINFM_BYTE(a + i)) ? 1u : 0u;
}

/* Strings are valid UTF-8 and, if `must_ascend` is set, ascend strictly. */
BINFM_LARGE const uint8_t *binfm_check_strings(const uint8_t *strings, const uint8_t *end, uint32_t count,
                                               uint_fast8_t must_ascend)
{
    const uint8_t *at = strings;
    const uint8_t *previous = NULL;
    uint32_t previous_length = 0u;
    uint32_t i;

    for (i = 0u; i < count; i++) {
        uint32_t done = 0u;
        uint32_t length;

        at = binfm_check_count(at, end, &length);
        if ((at == NULL) || (length > binfm_remaining(at, end))) {
            return NULL;
        }
        if ((must_ascend != 0u) && (i > 0u) && (binfm_is_less(previous, previous_length, at, length) == 0u)) {
            return NULL;
        }
        while (done < length) {
            const uint_fast8_t step = binfm_utf8_length(at + done, length - done);

            if (step == 0u) {
                return NULL;
            }
            done += step;
        }
        previous = at;
        previous_length = length;
        at += length;
    }
    return at;
}

/* Edges ascend, none is NaN, and at least one needs the full width. */
static inline uint_fast8_t binfm_check_leading(const binfm_record *record)
{
    const uint_fast8_t width = binfm_entry_width(record->tag);
    const uint8_t *at = record->entries;
    uint32_t previous = 0x7ffffeu; /* keys below that of -inf and above that of inf are NaN */
    uint8_t last_bytes = 0u;
    size_t i;

    for (i = 0u; i < record->count; i++) {
        const uint32_t edge = binfm_edge_key(at, width);

        if ((edge <= previous) || (edge > 0xff800000u)) {
            return 0u;
        }
        previous = edge;
        last_bytes |= BINFM_BYTE(at);
        at += width;
    }
    return ((last_bytes != 0u) || (width == 2u)) ? 1u : 0u;
}

/* Codes ascend, and the last one is finite. */
static inline uint_fast8_t binfm_check_codes(const binfm_record *record, uint8_t parameter)
{
    const uint_fast8_t form = (uint_fast8_t)((record->tag >> 4) & BINFM_FORM);
    const uint8_t *at = record->entries;
    size_t i;

    for (i = 1u; i < record->count; i++) {
        if (BINFM_BYTE(at + i) <= BINFM_BYTE(at + (i - 1u))) {
            return 0u;
        }
    }
    return (binfm_code_edge(form, parameter, BINFM_BYTE(at + (record->count - 1u))) != 0u) ? 1u : 0u;
}

/* The caller has checked that the edges lie before `end`. `defaults` comes from the records before this one. */
static inline uint_fast8_t binfm_check_edges(const binfm_record *record, uint8_t parameter,
                                             const binfm_defaults *defaults)
{
    const uint_fast8_t width = binfm_entry_width(record->tag);

    if ((record->count == 0u) || (width == 0u)) {
        return ((record->count == 0u) && (width == 0u)) ? 1u : 0u;
    }
    if (((width == 1u) ? binfm_check_codes(record, parameter) : binfm_check_leading(record)) == 0u) {
        return 0u;
    }
    return (width > 2u) ? 1u : binfm_is_canonical(record, parameter, defaults);
}

/* Categories ascend and have their shortest encoding. */
static inline uint_fast8_t binfm_check_categories(const binfm_record *record, const uint8_t *end)
{
    const uint_fast8_t width = binfm_entry_width(record->tag);

    if ((record->tag & BINFM_KIND) == BINFM_TEXT) {
        return (binfm_check_strings(record->entries, end, (uint32_t)record->count, 1u) != NULL) ? 1u : 0u;
    }
    return ((width == 0u) || (binfm_check_values(record->entries, (uint32_t)record->count, width, 0u) != 0u)) ? 1u : 0u;
}

/* Copies need several tilings. With several tilings, categorical features must have them. */
static inline uint_fast8_t binfm_check_copies(uint_fast8_t tag, uint32_t tilings)
{
    if ((tag & BINFM_COPIES) != 0u) {
        return (tilings > 1u) ? 1u : 0u;
    }
    return ((tilings == 1u) || ((tag & BINFM_WHOLE) == 0u)) ? 1u : 0u;
}

/* Check a record that binfm_check_record has accepted. `defaults` comes from the records before it. */
static inline uint_fast8_t binfm_is_strict(const binfm_record *record, uint8_t parameter, uint32_t tilings,
                                           const binfm_defaults *defaults, const uint8_t *end)
{
    const uint_fast8_t tag = record->tag;
    const uint_fast8_t form = (uint_fast8_t)((tag >> 4) & BINFM_FORM);

    if (binfm_check_copies(tag, tilings) == 0u) {
        return 0u;
    }
    if ((tag & BINFM_WHOLE) != 0u) {
        return binfm_check_categories(record, end);
    }
    if (((tag & BINFM_OWN_COUNT) != 0u) && (record->count == defaults->edge_count)) {
        return 0u;
    }
    if (((tag & BINFM_KIND) == BINFM_CODES) ? (binfm_is_valid_grid(form, parameter) == 0u)
                                            : ((tag & BINFM_OWN_PARAMETER) != 0u)) {
        return 0u;
    }
    return binfm_check_edges(record, parameter, defaults);
}

/* The most common number of edges of numeric features, the smallest if several tie; 0 if it is above 65,535. */
static inline uint16_t binfm_most_common_count(const uint8_t *records, const uint8_t *end, uint16_t edge_count)
{
    uint32_t count = 0u;
    uint32_t best_frequency = 0u;
    uint32_t best = 0u;
    uint32_t larger;

    do { /* try the counts in ascending order while a larger one could still be more common */
        uint32_t next_count = 0u;
        uint32_t frequency = 0u;
        const uint8_t *at = records;
        binfm_defaults defaults;

        defaults.edge_count = edge_count;
        larger = 0u;
        while (at != end) {
            binfm_record record;

            binfm_read_record(at, &defaults, &record);
            at = binfm_after_record(&record);
            if (((record.tag & BINFM_WHOLE) != 0u) || (record.count < count)) {
                continue;
            }
            if (record.count == count) {
                frequency++;
            } else {
                next_count = ((larger == 0u) || (record.count < next_count)) ? (uint32_t)record.count : next_count;
                larger++;
            }
        }
        if (frequency > best_frequency) {
            best_frequency = frequency;
            best = count;
        }
        count = next_count;
    } while (larger > best_frequency);
    return (best > 0xffffu) ? 0u : (uint16_t)best;
}

/* Check the records of all used features; returns the byte after them. */
static inline const uint8_t *binfm_check_records(const uint8_t *model, const uint8_t *records, const uint8_t *end,
                                                 uint32_t used)
{
    const uint8_t *at = records;
    binfm_defaults defaults;
    uint32_t i;

    defaults.parameter[BINFM_UNSIGNED] = 127u; /* out of range, so that no record can reuse it */
    defaults.parameter[BINFM_SIGNED] = 127u;
    defaults.parameter[BINFM_LOGARITHMIC] = 255u; /* likewise */
    defaults.parameter[BINFM_FORM] = 255u;
    defaults.edge_count = binfm_u16(model + BINFM_AT_USUAL);
    for (i = 0u; i < used; i++) {
        const binfm_defaults previous = defaults;
        binfm_record record;

        binfm_read_record(at, &defaults, &record);
        if (binfm_is_strict(&record, defaults.parameter[(record.tag >> 4) & BINFM_FORM],
                            BINFM_BYTE(model + BINFM_AT_TILINGS), &previous, end) == 0u) {
            return NULL;
        }
        at = binfm_after_record(&record);
    }
    return (binfm_most_common_count(records, at, defaults.edge_count) == defaults.edge_count) ? at : NULL;
}

/* At least one feature is unused, and spare bits are zero. */
static inline uint_fast8_t binfm_check_mask(const uint8_t *last, uint32_t features, uint32_t used)
{
    const uint_fast8_t bits = (uint_fast8_t)(features % 8u);

    return ((used < features) && ((bits == 0u) || ((BINFM_BYTE(last) >> bits) == 0u))) ? 1u : 0u;
}

/* Class labels. Kinds: 1 integers, 2 float64, 3 booleans, 4 strings. */
static inline const uint8_t *binfm_check_labels(const uint8_t *at, const uint8_t *end, uint16_t classes)
{
    const uint_fast8_t kind = BINFM_BYTE(at);
    const uint_fast8_t width = (kind == 1u) ? BINFM_BYTE(at + 1) : 8u;
    const uint8_t *values = binfm_check_array(at, end, (kind == 1u) ? 2u : 1u, 1u);
    const uint8_t *next;

    if ((values == NULL) || (classes == 0u) || (kind == 0u) || (kind > 4u)) {
        return NULL;
    }
    if (kind == 3u) {
        return (classes == 2u) ? values : NULL;
    }
    if (kind == 4u) {
        return binfm_check_strings(values, end, classes, 1u);
    }
    next = binfm_check_array(values, end, classes, width);
    if ((next == NULL) || ((width != 1u) && (width != 2u) && (width != 4u) && (width != 8u))) {
        return NULL;
    }
    return (binfm_check_values(values, classes, width, (kind == 2u) ? 1u : 0u) != 0u) ? next : NULL;
}

/* Check what follows the parameter bits; returns the byte after it. */
static inline const uint8_t *binfm_check_texts(const uint8_t *model, const uint8_t *bits_end, const uint8_t *end)
{
    const uint_fast8_t flags = BINFM_BYTE(model + BINFM_AT_FLAGS);
    const uint8_t *at = bits_end;

    if ((flags & BINFM_HAS_LABELS) != 0u) {
        at = binfm_check_labels(at, end, binfm_classes(model));
    }
    if ((at != NULL) && ((flags & BINFM_HAS_NAMES) != 0u)) {
        /* duplicates are harmless: names are unused here */
        at = binfm_check_strings(at, end, binfm_features(model), 0u);
    }
    if ((at != NULL) && ((flags & BINFM_HAS_CARD) != 0u)) {
        at = binfm_check_strings(at, end, 1u, 0u); /* its JSON is unused here, too */
    }
    return at;
}

/* Check a file that is safe to score. */
static inline uint_fast8_t binfm_check_strict(const uint8_t *model, const uint8_t *end, uint32_t used, uint32_t rows)
{
    const uint32_t bits = rows * binfm_outputs(model) * binfm_output_bits(model);
    const uint8_t *at = binfm_after_scales(model);

    if ((BINFM_BYTE(model + BINFM_AT_FLAGS) & BINFM_HAS_UNUSED) != 0u) {
        at += ((binfm_features(model) - 1u) / 8u) + 1u;
        if (binfm_check_mask(at - 1, binfm_features(model), used) == 0u) {
            return 0u;
        }
    }
    at = binfm_check_records(model, at, end, used);
    if (at == NULL) {
        return 0u;
    }
    at += (bits + 7u) / 8u;
    if (((bits % 8u) != 0u) && ((BINFM_BYTE(at - 1) >> (bits % 8u)) != 0u)) {
        return 0u;
    }
    return (binfm_check_texts(model, at, end) == end) ? 1u : 0u;
}
#endif

/* Everything between the magic number and the checksum. What follows the bits is never read here. */
static inline binfm_status binfm_check_content(const uint8_t *model, const uint8_t *end)
{
    const uint_fast8_t flags = BINFM_BYTE(model + BINFM_AT_FLAGS);
    const uint8_t *at;
    uint32_t remaining;
    uint32_t used;
    uint32_t rows;
    uint64_t bits;

    if ((binfm_check_header(model) == 0u) ||
        (binfm_check_array(model + BINFM_AT_SCALES, end, binfm_outputs(model), binfm_scale_bytes(model)) == NULL)) {
        return BINFM_BAD_FORMAT;
    }
    at = binfm_check_features(model, end, &used, &rows);
    if (at == NULL) {
        return BINFM_BAD_FORMAT;
    }
    bits = (uint64_t)rows * binfm_outputs(model) * binfm_output_bits(model);
    remaining = binfm_remaining(at, end);
    if ((((bits + 7u) >> 3) > remaining) ||
        ((((bits + 7u) >> 3) < remaining) && ((flags & (BINFM_HAS_LABELS | BINFM_HAS_NAMES | BINFM_HAS_CARD)) == 0u))) {
        return BINFM_BAD_FORMAT;
    }
#ifdef BINFM_STRICT
    if (binfm_check_strict(model, end, used, rows) == 0u) {
        return BINFM_BAD_FORMAT;
    }
#endif
    return (binfm_within_limits(model, used, rows) != 0u) ? BINFM_OK : BINFM_TOO_LARGE;
}

/*
 * Validate a model. After BINFM_OK, no function in this file reads outside the model, whatever x holds. The checksum
 * detects damage, not tampering: it is not a signature.
 */
BINFM_LARGE binfm_status binfm_check(const uint8_t *model, size_t length)
{
    const binfm_status status = binfm_check_frame(model, length);

    return (status == BINFM_OK) ? binfm_check_content(model, model + (length - BINFM_CHECKSUM_BYTES)) : status;
}

/* ======== Self-test ============================================================================================== */

/*
 * Validate a model, score the test samples and compare with Python. For each sample, `tests` holds the features as
 * float32, then Python's score of each output as int64, all little-endian. `x` and `active` are scratch buffers of
 * binfm_features() and BINFM_ACTIVE(binfm_features()) elements.
 */
BINFM_LARGE binfm_status binfm_selftest(const uint8_t *model, size_t length, const uint8_t *tests, uint16_t samples,
                                        float *x, uint32_t *active)
{
    const binfm_status status = binfm_check(model, length);
    const uint8_t *at = tests;
    binfm_scorer scorer;
    uint16_t sample;
    uint16_t output;
    uint32_t i;

    for (sample = 0u; (sample < samples) && (status == BINFM_OK); sample++) {
        for (i = 0u; i < binfm_features(model); i++) {
            binfm_float_of_bits(binfm_u32(at), &x[i]);
            at += 4;
        }
        binfm_encode(model, x, active);
        binfm_begin(model, active, 0u, &scorer);
        for (output = 0u; output < binfm_outputs(model); output++) {
            if (binfm_next_score(&scorer) != binfm_signed(at, 8u)) {
                return BINFM_BAD_SCORE;
            }
            at += 8;
        }
    }
    return status;
}

#endif
