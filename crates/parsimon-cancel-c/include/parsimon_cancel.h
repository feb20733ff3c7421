/* Acoustic echo cancellation: the loudspeaker's signal taken out of the microphone's.
 *
 * Build:  cargo build --release -p parsimon-cancel-c
 * Install: make -C crates/parsimon-cancel-c install PREFIX=/usr/local, then: cc program.c $(pkg-config --cflags --libs parsimon_cancel)
 * Link:   cc -I crates/parsimon-cancel-c/include program.c target/release/libparsimon_cancel.a -lpthread -ldl -lm
 *         (or with target/release/libparsimon_cancel.so)
 *
 * Functions that can fail return a code of enum parsimon_cancel_code; parsimon_cancel_message() has the details.
 * Null pointers and pointers that are not aligned are refused. A canceller is used by one thread at a time; several
 * cancellers are independent of each other. Two callbacks, one that plays and one that records, need a lock around their calls
 * where they run in different threads. Nothing is allocated after parsimon_cancel_new, except in
 * parsimon_cancel_save, parsimon_cancel_reset, parsimon_cancel_warning and in failures.
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
    PARSIMON_CANCEL_SUPPRESS = 1,
    /* Loudspeaker and microphone share one clock: no drift is looked for. */
    PARSIMON_CANCEL_ONE_CLOCK = 2,
    /* Keep hum, rumble and offsets below 100 Hz. */
    PARSIMON_CANCEL_KEEP_RUMBLE = 4
};

/* All settings. Zero is the default of each but the rate. */
struct parsimon_cancel_settings {
    uint32_t rate;         /* samples per second, 1000 to 768000 */
    uint32_t taps;         /* length of the echo path in samples; 0: 256 ms, up to 512 ms where the echo lasts longer */
    uint32_t flags;        /* enum parsimon_cancel_flags */
    uint32_t delay;        /* delay of the echo in samples where it is known, at most a minute */
    uint32_t search_ms;    /* longest delay to search for while running, in milliseconds, at most 60000; 0: no search. With
                            * parsimon_cancel_play and _record 500 is a good value */
    uint32_t loudspeakers; /* channels of the reference, interleaved, at most 64; 0: one */
    uint32_t microphones;  /* channels of the microphone, interleaved, at most 64; 0: one */
};

/* Delays, and what has happened so far. */
struct parsimon_cancel_status {
    float erle_db;       /* by how many dB the linear filter has made the first microphone quieter, over the last seconds */
    float delay_ms;      /* delay applied to the reference */
    float drift_ppm;     /* clock of the loudspeaker against that of the microphone */
    int32_t double_talk; /* 1 while the near end speaks over the echo */
    uint64_t frames;     /* frames processed */
    uint64_t waiting;    /* frames played and not yet used */
    uint64_t missing;    /* frames recorded without played ones: the loudspeaker counted as silent */
    uint64_t dropped;    /* frames played and dropped, because nothing was recorded for 2 s */
    uint64_t not_finite; /* samples that were not finite and counted as zero */
};

typedef struct parsimon_cancel parsimon_cancel;

/* A canceller for `rate` samples per second and an echo path of `taps` samples. 0 is the default: 256 ms, which
 * becomes up to 512 ms where the echo lasts longer.
 * `flags` is 0 or PARSIMON_CANCEL_SUPPRESS. On failure *out is null. */
int parsimon_cancel_new(uint32_t rate, size_t taps, uint32_t flags, parsimon_cancel **out);

/* A canceller with all settings. On failure *out is null. */
int parsimon_cancel_open(const struct parsimon_cancel_settings *settings, parsimon_cancel **out);

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

/* For sound interfaces with two callbacks, each at its own times and sizes: takes `frames` frames that the loudspeaker plays. They
 * wait for the microphone for up to 2 s; then the oldest are dropped. Do not mix with parsimon_cancel_process. */
int parsimon_cancel_play(parsimon_cancel *canceller, const float *reference, size_t frames);
int parsimon_cancel_play_s16(parsimon_cancel *canceller, const int16_t *reference, size_t frames);

/* Takes `frames` frames of the microphone and writes as many without the echo. `output` may be the same array as `microphone`. Where
 * nothing was played, the loudspeaker counts as silent. */
int parsimon_cancel_record(parsimon_cancel *canceller, const float *microphone, float *output, size_t frames);
int parsimon_cancel_record_s16(parsimon_cancel *canceller, const int16_t *microphone, int16_t *output, size_t frames);

/* Starts over with the same settings. */
int parsimon_cancel_reset(parsimon_cancel *canceller);

/* Writes the status to *status. */
int parsimon_cancel_status(const parsimon_cancel *canceller, struct parsimon_cancel_status *status);

/* What is wrong with the signals or the calls, in words ("the microphone clips; ..."); empty if nothing is. Valid until the next call
 * with this canceller; never null. */
const char *parsimon_cancel_warning(parsimon_cancel *canceller);

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
