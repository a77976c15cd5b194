/*
 * Runs avr.c: simulator FIRMWARE INPUT OUTPUT COUNTS. Reading GPIOR1 consumes a byte of input, writing GPIOR0 emits a
 * byte of output. Writing GPIOR2 starts (1) or stops (2) the measurement of cycles and stack bytes, or loads the next
 * model from the input into flash (3).
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include <stdio.h>
#include <stdlib.h>

enum { GPIOR0_AT = 0x3e, GPIOR1_AT = 0x4a, GPIOR2_AT = 0x4b, MODEL_AT = 0x4001, FLASH = 0x8000 };

static FILE *input, *output, *counts;
static uint64_t start_cycle;
static uint16_t stack_top, stack_low;
static uint32_t last_four;

static int next_byte(void)
{
    int byte = fgetc(input);

    if (byte == EOF) {
        exit(4);
    }
    last_four = last_four >> 8 | (uint32_t)byte << 24;
    return byte;
}

static uint8_t get(avr_t *avr, avr_io_addr_t at, void *unused)
{
    (void)avr, (void)at, (void)unused;
    return (uint8_t)next_byte();
}

static void put(avr_t *avr, avr_io_addr_t at, uint8_t byte, void *unused)
{
    (void)avr, (void)at, (void)unused;
    fputc(byte, output);
}

static uint16_t stack_pointer(const avr_t *avr)
{
    return (uint16_t)(avr->data[R_SPL] | avr->data[R_SPH] << 8);
}

/* The length of the model is the last u32 that the firmware has read. */
static void load(avr_t *avr)
{
    uint32_t length = last_four, i;

    if (length > FLASH - MODEL_AT) {
        exit(5);
    }
    for (i = 0; i < length; i++) {
        avr->flash[MODEL_AT + i] = (uint8_t)next_byte();
    }
}

static void mark(avr_t *avr, avr_io_addr_t at, uint8_t byte, void *unused)
{
    (void)at, (void)unused;
    if (byte == 1) {
        start_cycle = avr->cycle;
        stack_top = stack_low = stack_pointer(avr);
    } else if (byte == 2) {
        fprintf(counts, "%llu %d\n", (unsigned long long)(avr->cycle - start_cycle), stack_top - stack_low);
    } else {
        load(avr);
    }
}

int main(int count, char **arguments)
{
    elf_firmware_t firmware = {0};
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    int state;

    if (count != 5 || avr == NULL || elf_read_firmware(arguments[1], &firmware) != 0) {
        return 2;
    }
    input = fopen(arguments[2], "rb");
    output = fopen(arguments[3], "wb");
    counts = fopen(arguments[4], "w");
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr_register_io_read(avr, GPIOR1_AT, get, NULL);
    avr_register_io_write(avr, GPIOR0_AT, put, NULL);
    avr_register_io_write(avr, GPIOR2_AT, mark, NULL);
    do {
        state = avr_run(avr);
        if (stack_pointer(avr) < stack_low) {
            stack_low = stack_pointer(avr);
        }
    } while (state != cpu_Done && state != cpu_Crashed);
    fclose(output);
    fclose(counts);
    return state == cpu_Crashed;
}
