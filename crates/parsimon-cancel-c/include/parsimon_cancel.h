/* Acoustic echo cancellation: the loudspeaker's signal taken out of the microphone's.
 *
 * Build:  cargo build --release -p parsimon-cancel-c
 * Link:   cc -I crates/parsimon-cancel-c/include program.c target/release/libparsimon_cancel.a -lpthread -ldl -lm
 *         (or with target/release/libparsimon_cancel.so)
 *
 * Functions that can fail return a code of enum parsimon_cancel_code; parsimon_cancel_message() has the details.
 * Null pointers and pointers that are not aligned are refused. A canceller is used by one thread at a time; several
 * cancellers are independent of each other. Nothing is allocated after parsimon_cancel_new, except in
 * parsimon_cancel_save and in failures.
 */
#ifndef PARSIMON_CANCEL_H
#define PARSIMON_CANCEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum parsimon_cancel_code {
    PARSIMON_CANCEL_OK = 0,
    PARSIMON_CANCEL_POINTER = 1, /* a pointer is null or not aligned */
    PARSIMON_CANCEL_SETTING = 2, /* a setting is out of range */
    PARSIMON_CANCEL_SIZE = 3,    /* a size is out of range or a buffer is too small */
    PARSIMON_CANCEL_STATE = 4,   /* saved bytes are damaged or of another version */
    PARSIMON_CANCEL_PANIC = 5    /* a bug; the canceller can only be freed */
};

enum parsimon_cancel_flags {
    /* Attenuate what the linear filter leaves of the echo. The output is up to 16 ms later. */
    PARSIMON_CANCEL_SUPPRESS = 1
};

typedef struct parsimon_cancel parsimon_cancel;

/* A canceller for `rate` samples per second and an echo path of `taps` samples. 0 is the default: 256 ms, which
 * becomes up to 512 ms where the echo lasts longer.
 * `flags` is 0 or PARSIMON_CANCEL_SUPPRESS. On failure *out is null. */
int parsimon_cancel_new(uint32_t rate, size_t taps, uint32_t flags, parsimon_cancel **out);

/* Frees a canceller. Null is allowed. */
void parsimon_cancel_free(parsimon_cancel *canceller);

/* By how many samples the output is later than the microphone; 0 for null. */
size_t parsimon_cancel_latency(const parsimon_cancel *canceller);

/* Takes `samples` samples of reference (what the loudspeaker plays) and microphone and writes as many of output. Any
 * number of samples per call gives the same output. `output` may be the same array as `microphone` or `reference`; arrays must not
 * overlap in any other way. Full scale is 1; samples that are not finite count as zero. */
int parsimon_cancel_process(parsimon_cancel *canceller, const float *reference, const float *microphone, float *output,
                            size_t samples);

/* The same in integers of 16 bits. */
int parsimon_cancel_process_s16(parsimon_cancel *canceller, const int16_t *reference, const int16_t *microphone,
                                int16_t *output, size_t samples);

/* Writes everything that the next sample depends on to `bytes` and its length to *size. With bytes = NULL and
 * room = 0 only the length is written. */
int parsimon_cancel_save(const parsimon_cancel *canceller, unsigned char *bytes, size_t room, size_t *size);

/* A canceller that goes on where the saved one stopped, bit for bit. On failure *out is null; a pointer that is refused
 * leaves it as it was. */
int parsimon_cancel_restore(const unsigned char *bytes, size_t size, parsimon_cancel **out);

/* What a code means; never null. */
const char *parsimon_cancel_describe(int code);

/* Details of the last failure in this thread, valid until its next failure; never null. */
const char *parsimon_cancel_message(void);

#ifdef __cplusplus
}
#endif

#endif
