/* I/O of driver.c on a bare Cortex-M or RV32, through files that the emulator opens; it also counts instructions. */
#include "io.h"

enum { OPEN = 1, WRITE = 5, READ = 6, EXIT = 0x18 };
enum { MODEL_BYTES = 8192, MAX_FEATURES = 320, BUFFER = 256 };

static uint32_t call(uint32_t operation, const void *argument)
{
#ifdef __riscv
    register uint32_t a0 __asm("a0") = operation;
    register const void *a1 __asm("a1") = argument;
    __asm volatile(".option push\n.option norvc\n.balign 16\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                   : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

static uint8_t model[MODEL_BYTES + 1], in[BUFFER], out[BUFFER];
static float sample[MAX_FEATURES];
static uint32_t active[MAX_FEATURES + 2];
static uint32_t input, output, in_position, in_size, out_size;

static uint32_t open_file(const char *name, uint32_t length, uint32_t mode)
{
    const uint32_t arguments[3] = {(uint32_t)name, mode, length};

    return call(OPEN, arguments);
}

static void flush(void)
{
    const uint32_t arguments[3] = {output, (uint32_t)out, out_size};

    (void)call(WRITE, arguments);
    out_size = 0u;
}

static void stop(uint32_t reason)
{
    flush();
    (void)call(EXIT, (const void *)reason);
    for (;;) {
    }
}

uint8_t get_byte(void)
{
    if (in_position == in_size) {
        const uint32_t arguments[3] = {input, (uint32_t)in, BUFFER};

        in_size = BUFFER - call(READ, arguments);
        in_position = 0u;
        if (in_size == 0u) {
            stop(0x20023u); /* ADP_Stopped_RunTimeErrorUnknown: the emulator exits with an error */
        }
    }
    in_position++;
    return in[in_position - 1u];
}

void put_byte(uint8_t byte)
{
    out[out_size] = byte;
    out_size++;
    if (out_size == BUFFER) {
        flush();
    }
}

/* Stored at an odd address, to prove that the runtime reads single bytes only. */
const uint8_t *get_model(uint32_t length)
{
    uint32_t i;

    if (length > MODEL_BYTES) {
        stop(0x20023u);
    }
    for (i = 0u; i < length; i++) {
        model[i + 1u] = get_byte();
    }
    return model + 1;
}

float *get_sample(uint32_t features)
{
    if (features > MAX_FEATURES) {
        stop(0x20023u);
    }
    return sample;
}

uint32_t *get_active(uint32_t features)
{
    (void)features;
    return active;
}

__attribute__((noinline)) void mark_begin(void)
{
    __asm volatile("");
}

__attribute__((noinline)) void mark_end(void)
{
    __asm volatile("nop");
}

void finish(void)
{
    stop(0x20026u);
}

extern int main(void);
extern uint8_t bss_begin[], bss_end[], stack_top[];
void start(void);

void start(void)
{
    volatile uint8_t *at;

    for (at = bss_begin; at < bss_end; at++) {
        *at = 0u;
    }
    input = open_file("input", 5u, 1u);
    output = open_file("output", 6u, 5u);
    (void)main();
}

#ifdef __riscv
__asm(".section .vectors,\"ax\"\n.globl _start\n_start:\n.option push\n.option norelax\nla gp, __global_pointer$\n"
      ".option pop\nla sp, stack_top\nj start");
#else
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {stack_top, (const void *)start};
#endif
