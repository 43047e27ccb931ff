// An instant bot: finds the number of a question and answers with the first option, at as many
// tables as its argument says. One system call to read and one to write for all questions that have
// come, so that what a benchmark measures is not the bot.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 17], out[1 << 17];

int main(int argc, char **argv) {
    size_t used = 0;
    for (;;) {
        ssize_t got = read(0, line + used, sizeof line - used - 1);
        if (got <= 0) return 0;
        used += (size_t)got;
        line[used] = 0;
        char *start = line, *end, *next = out;
        while ((end = strchr(start, '\n'))) {
            *end = 0;
            if (!strncmp(start, "{\"type\":\"hello\"", 15))
                next += sprintf(next, "{\"type\":\"hello\",\"name\":\"instant\",\"version\":\"1\",\"tables\":%s}\n",
                                argc > 1 ? argv[1] : "1");
            else if (!strncmp(start, "{\"type\":\"ask\",\"id\":", 19))
                next += sprintf(next, "{\"type\":\"choose\",\"id\":%.*s,\"choice\":0}\n",
                                (int)strspn(start + 19, "0123456789"), start + 19);
            start = end + 1;
        }
        if (next > out && write(1, out, (size_t)(next - out)) < 0) return 1;
        used -= (size_t)(start - line);
        memmove(line, start, used);
    }
}
