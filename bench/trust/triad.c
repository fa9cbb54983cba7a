/* McCalpin's STREAM triad, a[i] = b[i] + s * c[i], one thread, over three arrays of 128 MB, in GB/s: the best of 20 passes, each
 * in quarters, which a busy machine may leave undisturbed where it does not a whole one. As STREAM counts them: 24 bytes an
 * element, reads for ownership left out. The first touch is before the clock. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N (1 << 24)
#define PART (N / 4)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c), best = 1e9;
  for (long i = 0; i < N; i++) a[i] = 0, b[i] = i, c[i] = 2 * i;
  for (int pass = 0; pass < 20; pass++) {
    for (long from = 0; from < N; from += PART) {
      double started = now();
      for (long i = from; i < from + PART; i++) a[i] = b[i] + 3.0 * c[i];
      double seconds = now() - started;
      if (seconds < best) best = seconds;
    }
    b[pass] = a[N - 1 - pass];
  }
  printf("%.3f\n", 24.0 * PART / best / 1e9);
  return 0;
}
