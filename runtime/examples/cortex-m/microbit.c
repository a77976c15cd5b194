/*
 * The micro:bit as emulated by qemu, with recorded samples for a sensor and the terminal for a display.
 *
 *     python ../make_model.py .
 *     arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os -ffreestanding -nostdlib -T microbit.ld \
 *         main.c microbit.c -lgcc -o gesture.elf
 *     qemu-system-arm -M microbit -nographic -semihosting -kernel gesture.elf
 */
#include "board.h"

enum { SYS_WRITE0 = 4, SYS_EXIT = 0x18 };

static const int16_t SAMPLES[][6] = {
    {12, -40, 998, 60, 22, 41},
    {640, 15, 770, 50, 90, 35},
    {-30, 10, 1001, 1500, 900, 2100},
};

extern int main(void);
extern uint8_t bss_begin[], bss_end[], stack_top[];
void reset(void);

/* Semihosting call, which qemu serves. */
static void semihost(int operation, const void *argument)
{
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;

    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void exit_with(uint32_t reason)
{
    semihost(SYS_EXIT, (const void *)reason);
    for (;;) {
    }
}

int board_read(int16_t *x, size_t count)
{
    static size_t next;
    size_t i;

    if (next == sizeof SAMPLES / sizeof SAMPLES[0]) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        x[i] = SAMPLES[next][i];
    }
    next++;
    return 1;
}

void board_show(uint16_t label)
{
    const char text[3] = {(char)('0' + label), '\n', 0};

    semihost(SYS_WRITE0, text);
}

void board_fail(void)
{
    exit_with(0x20023u);
}

void reset(void)
{
    volatile uint8_t *at;

    for (at = bss_begin; at < bss_end; at++) {
        *at = 0;
    }
    (void)main();
    exit_with(0x20026u);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {stack_top, (const void *)reset};
