// Normalized LMS for echo.py, one sample at a time.
//   cc -O3 -march=native -ffast-math -shared -fPIC echo_nlms.c -o echo_nlms.so
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// `far` is preceded by taps - 1 zeros. Returns the CPU seconds.
double nlms_run(const float *far, const float *near, float *out, long n, int taps, float step, float delta) {
    double start = now(), power = 0.0;
    float *w = calloc(taps, sizeof(float));
    for (long i = 0; i < n; i++) {
        const float *x = far + i; // x[taps - 1] is the newest
        float y = 0.0f;
        power += (double)x[taps - 1] * x[taps - 1];
        for (int k = 0; k < taps; k++) y += w[k] * x[k];
        float e = near[i] - y, g = step * e / ((float)power + delta);
        for (int k = 0; k < taps; k++) w[k] += g * x[k];
        out[i] = e;
        power -= (double)x[0] * x[0];
    }
    free(w);
    return now() - start;
}
