// Debian's speexdsp echo canceller for echo.py: the whole signal in one call, and the CPU seconds that it took. No suppressor.
//   cc -O2 -shared -fPIC echo_speex.c -o echo_speex.so -lspeexdsp
#include <speex/speex_echo.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// `path` (tail + frame numbers at most, 32767 for 1) receives the filter at the end and may be null.
double speex_run(const short *far, const short *near, short *out, long n, int frame, int tail, int rate, int *path) {
    double start = now();
    SpeexEchoState *state = speex_echo_state_init(frame, tail);
    speex_echo_ctl(state, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
    long i = 0;
    for (; i + frame <= n; i += frame) speex_echo_cancellation(state, near + i, far + i, out + i);
    memcpy(out + i, near + i, (n - i) * sizeof(short));
    double seconds = now() - start;
    if (path) speex_echo_ctl(state, SPEEX_ECHO_GET_IMPULSE_RESPONSE, path);
    speex_echo_state_destroy(state);
    return seconds;
}
