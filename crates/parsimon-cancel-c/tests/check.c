/* Uses every function of parsimon_cancel.h as a program would, and as a careless one would. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsimon_cancel.h"

#define RATE 16000
#define TOTAL (6 * RATE)

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "check.c:%d: %s (%s)\n", __LINE__, #condition, parsimon_cancel_message());               \
            exit(1);                                                                                                 \
        }                                                                                                            \
    } while (0)

static float far_end[TOTAL], microphone[TOTAL], output[TOTAL], other[TOTAL];
static int16_t far_16[TOTAL], near_16[TOTAL];

static void signals(void) {
    uint32_t noise = 1;
    for (int i = 0; i < TOTAL; i++) {
        noise = noise * 1664525u + 1013904223u;
        far_end[i] = (float)(noise >> 8) / 16777216.0f - 0.5f;
        microphone[i] = i < 300 ? 0.0f : 0.5f * far_end[i - 300];
        far_16[i] = (int16_t)(far_end[i] * 32767.0f);
        near_16[i] = (int16_t)(microphone[i] * 32767.0f);
    }
}

static double energy(const float *v) {
    double sum = 0;
    for (int i = TOTAL / 2; i < TOTAL; i++) sum += (double)v[i] * v[i];
    return sum;
}

/* Pieces of a length that is no block's, and of changing length. */
static void run(parsimon_cancel *canceller, float *out, size_t first) {
    size_t length = first;
    for (size_t at = 0; at < TOTAL;) {
        size_t n = length < TOTAL - at ? length : TOTAL - at;
        CHECK(parsimon_cancel_process(canceller, far_end + at, microphone + at, out + at, n) == PARSIMON_CANCEL_OK);
        at += n;
        length = length % 977 + 1;
    }
}

static void echo_is_canceled(void) {
    parsimon_cancel *one = NULL, *two = NULL;
    CHECK(parsimon_cancel_new(RATE, 0, 0, &one) == PARSIMON_CANCEL_OK && one != NULL);
    CHECK(parsimon_cancel_new(RATE, 0, 0, &two) == PARSIMON_CANCEL_OK);
    size_t latency = parsimon_cancel_latency(one);
    CHECK(latency > 0 && latency <= RATE / 50);
    run(one, output, 160);
    run(two, other, 1);
    CHECK(memcmp(output, other, sizeof output) == 0);
    CHECK(energy(output) < 1e-3 * energy(microphone));
    /* In place. */
    parsimon_cancel *three = NULL;
    CHECK(parsimon_cancel_new(RATE, 0, 0, &three) == PARSIMON_CANCEL_OK);
    memcpy(other, microphone, sizeof other);
    CHECK(parsimon_cancel_process(three, far_end, other, other, TOTAL) == PARSIMON_CANCEL_OK);
    CHECK(memcmp(output, other, sizeof output) == 0);
    parsimon_cancel_free(one);
    parsimon_cancel_free(two);
    parsimon_cancel_free(three);
}

static void integers_and_the_suppressor(void) {
    parsimon_cancel *one = NULL;
    CHECK(parsimon_cancel_new(RATE, 1000, PARSIMON_CANCEL_SUPPRESS, &one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_latency(one) <= RATE / 50);
    CHECK(parsimon_cancel_process_s16(one, far_16, near_16, near_16, TOTAL) == PARSIMON_CANCEL_OK);
    double sum = 0;
    for (int i = TOTAL / 2; i < TOTAL; i++) sum += (double)near_16[i] * near_16[i] / (32768.0 * 32768.0);
    CHECK(sum < 1e-3 * energy(microphone));
    parsimon_cancel_free(one);
}

static void a_saved_canceller_goes_on(void) {
    parsimon_cancel *one = NULL, *two = NULL;
    size_t size = 0, again = 0, half = TOTAL / 2 + 17;
    CHECK(parsimon_cancel_new(RATE, 0, PARSIMON_CANCEL_SUPPRESS, &one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(one, far_end, microphone, output, half) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_save(one, NULL, 0, &size) == PARSIMON_CANCEL_OK && size > 0);
    unsigned char *bytes = malloc(size);
    CHECK(bytes != NULL);
    CHECK(parsimon_cancel_save(one, bytes, size - 1, &again) == PARSIMON_CANCEL_SIZE && again == size);
    CHECK(parsimon_cancel_save(one, bytes, size, &again) == PARSIMON_CANCEL_OK && again == size);
    CHECK(parsimon_cancel_restore(bytes, size, &two) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(one, far_end + half, microphone + half, output, TOTAL - half) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(two, far_end + half, microphone + half, other, TOTAL - half) == PARSIMON_CANCEL_OK);
    CHECK(memcmp(output, other, (TOTAL - half) * sizeof *output) == 0);
    parsimon_cancel_free(two);
    /* Damage is found, and nothing is handed out. */
    bytes[size / 2] ^= 1;
    CHECK(parsimon_cancel_restore(bytes, size, &two) == PARSIMON_CANCEL_STATE && two == NULL);
    CHECK(parsimon_cancel_restore(bytes, 3, &two) == PARSIMON_CANCEL_STATE);
    CHECK(strlen(parsimon_cancel_message()) > 0);
    free(bytes);
    parsimon_cancel_free(one);
}

/* Two callbacks of different sizes give what one call gives, and the status follows. */
static void two_callbacks(void) {
    struct parsimon_cancel_settings settings = {0};
    settings.rate = RATE;
    parsimon_cancel *one = NULL;
    CHECK(parsimon_cancel_open(&settings, &one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(one, far_end, microphone, output, TOTAL) == PARSIMON_CANCEL_OK);
    parsimon_cancel_free(one);
    CHECK(parsimon_cancel_open(&settings, &one) == PARSIMON_CANCEL_OK);
    for (size_t at = 0, played = 0; at < TOTAL; at += 480) {
        while (played < at + 480) {
            CHECK(parsimon_cancel_play(one, far_end + played, 320) == PARSIMON_CANCEL_OK);
            played += 320;
        }
        CHECK(parsimon_cancel_record(one, microphone + at, other + at, 480) == PARSIMON_CANCEL_OK);
    }
    CHECK(memcmp(output, other, sizeof output) == 0);
    struct parsimon_cancel_status status;
    CHECK(parsimon_cancel_status(one, &status) == PARSIMON_CANCEL_OK);
    CHECK(status.erle_db > 20 && status.frames == TOTAL && status.missing == 0 && status.dropped == 0);
    CHECK(strcmp(parsimon_cancel_warning(one), "") == 0);
    memset(other, 0, sizeof other);
    CHECK(parsimon_cancel_record(one, other, other, 4 * RATE) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_status(one, &status) == PARSIMON_CANCEL_OK && status.missing >= 3 * RATE);
    CHECK(strlen(parsimon_cancel_warning(one)) > 0);
    CHECK(parsimon_cancel_reset(one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_status(one, &status) == PARSIMON_CANCEL_OK && status.frames == 0 && status.missing == 0);
    CHECK(parsimon_cancel_process(one, far_end, microphone, other, TOTAL) == PARSIMON_CANCEL_OK);
    CHECK(memcmp(output, other, sizeof output) == 0);
    parsimon_cancel_free(one);
    /* Two loudspeakers, two microphones. */
    settings.loudspeakers = settings.microphones = 2;
    settings.flags = PARSIMON_CANCEL_ONE_CLOCK | PARSIMON_CANCEL_KEEP_RUMBLE;
    CHECK(parsimon_cancel_open(&settings, &one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_play_s16(one, far_16, TOTAL / 2) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_record_s16(one, near_16, near_16, TOTAL / 4) == PARSIMON_CANCEL_OK);
    parsimon_cancel_free(one);
    settings.loudspeakers = 65;
    CHECK(parsimon_cancel_open(&settings, &one) == PARSIMON_CANCEL_SETTING && one == NULL);
    CHECK(parsimon_cancel_open(NULL, &one) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_reset(NULL) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_status(NULL, &status) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_play(NULL, far_end, 1) == PARSIMON_CANCEL_POINTER);
    CHECK(strcmp(parsimon_cancel_warning(NULL), "") == 0);
    CHECK(parsimon_cancel_new(1, 0, 0, &one) == PARSIMON_CANCEL_SETTING);
}

static void carelessness_is_refused(void) {
    parsimon_cancel *one = NULL;
    size_t size = 0;
    CHECK(parsimon_cancel_new(RATE, 0, 0, NULL) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_new(0, 0, 0, &one) == PARSIMON_CANCEL_SETTING && one == NULL);
    CHECK(strstr(parsimon_cancel_message(), "rate") != NULL);
    CHECK(parsimon_cancel_new(RATE, (size_t)-1, 0, &one) == PARSIMON_CANCEL_SETTING);
    CHECK(parsimon_cancel_new(RATE, 0, 64, &one) == PARSIMON_CANCEL_SETTING);
    CHECK(parsimon_cancel_new(100, 0, PARSIMON_CANCEL_SUPPRESS, &one) == PARSIMON_CANCEL_SETTING);
    CHECK(parsimon_cancel_new(RATE, 64, 0, &one) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(NULL, far_end, microphone, output, 10) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_process(one, NULL, microphone, output, 10) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_process(one, far_end, NULL, output, 10) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_process(one, far_end, microphone, NULL, 10) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_process(one, NULL, NULL, NULL, 0) == PARSIMON_CANCEL_OK);
    CHECK(parsimon_cancel_process(one, far_end, microphone, output, (size_t)-1) == PARSIMON_CANCEL_SIZE);
    CHECK(parsimon_cancel_process_s16(one, (int16_t *)((char *)far_16 + 1), near_16, near_16, 4) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_save(NULL, NULL, 0, &size) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_save(one, NULL, 0, NULL) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_save(one, NULL, 10, &size) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_restore(NULL, 10, &one) == PARSIMON_CANCEL_POINTER);
    CHECK(parsimon_cancel_latency(NULL) == 0);
    parsimon_cancel_free(NULL);
    /* What is not finite counts as zero. */
    float odd[3] = {NAN, INFINITY, -INFINITY}, out[3];
    CHECK(parsimon_cancel_process(one, odd, odd, out, 3) == PARSIMON_CANCEL_OK);
    CHECK(strcmp(parsimon_cancel_describe(PARSIMON_CANCEL_OK), "ok") == 0);
    CHECK(parsimon_cancel_describe(99) != NULL && parsimon_cancel_describe(-1) != NULL);
    parsimon_cancel_free(one);
}

int main(void) {
    signals();
    echo_is_canceled();
    two_callbacks();
    signals();
    integers_and_the_suppressor();
    a_saved_canceller_goes_on();
    carelessness_is_refused();
    puts("all checks passed");
    return 0;
}
