/* An allocator that fails on request, for LD_PRELOAD: allocation number `at` of those of `least` bytes and more. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static long fail_at = -1, seen = 0;
static size_t least_bytes = 0;

/* Begins to count, and to fail at that number; a negative number fails never. */
void failing_begin(long at, size_t least)
{
    least_bytes = least;
    seen = 0;
    __sync_synchronize();
    fail_at = at < 0 ? __LONG_MAX__ : at;
}

/* Ends it and returns how many such allocations there were. */
long failing_end(void)
{
    fail_at = -1;
    return seen;
}

static int fails(size_t size)
{
    if (fail_at < 0 || size < least_bytes || __sync_fetch_and_add(&seen, 1) != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails(size))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out == NULL ? ENOMEM : 0;
}
