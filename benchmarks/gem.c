/* One operator without recovery, as plain as C allows: what the kernel is measured against.

   Rule of this file: an automaton a window, each fed with every event; no skip detection, no
   numbers, no savepoints, no groups.  Lima et al., Section IV. */

#include <stdint.h>
#include <stdlib.h>

/* Matches of a sequence of `steps` distinct types under skip-till-next-match, one run at a time (as
   model.cep.one_run has it), in all time windows [start, start + size) that open with the first event
   and with each one `slide` or more after the last start; -1 without memory.  steps_of: by type code, its step, or `steps`. */
int64_t matches(const uint8_t *types, const int64_t *times, int64_t count, const int64_t *steps_of,
                int64_t steps, int64_t size, int64_t slide)
{
    int64_t room = size / slide + 2;
    int32_t *states = malloc(2 * room * sizeof *states);
    int64_t *starts = malloc(2 * room * sizeof *starts);
    int64_t from = 0, to = 0, found = 0; /* windows open: from to before to */
    if (states == NULL || starts == NULL) {
        free(states);
        free(starts);
        return -1;
    }
    for (int64_t at = 0; at < count; at++) {
        int64_t time = times[at];
        while (from < to && time >= starts[from] + size)
            from++;
        if (at == 0 || time >= starts[to - 1] + slide) {
            if (to == 2 * room) { /* back to the front, the newest too if it has closed */
                int64_t kept = from < to ? from : to - 1;
                for (int64_t window = kept; window < to; window++) {
                    states[window - kept] = states[window];
                    starts[window - kept] = starts[window];
                }
                to -= kept;
                from -= kept;
            }
            states[to] = 0;
            starts[to++] = time;
        }
        int32_t step = (int32_t)steps_of[types[at]];
        int32_t advanced = 0, whole = (int32_t)steps;
        for (int64_t window = from; window < to; window++) {
            int32_t taken = states[window] == step;
            int32_t state = states[window] + taken;
            int32_t done = state == whole;
            states[window] = done ? 0 : state;
            advanced += done;
        }
        found += advanced;
    }
    free(states);
    free(starts);
    return found;
}
