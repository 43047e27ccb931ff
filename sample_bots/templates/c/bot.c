/* my-bot: a bot for draw dominoes, in C11 without any library. Your idea goes into `choose`.
 *
 * No JSON parser is needed. The referee writes one message a line, without blanks; "type" comes
 * first, "id" second, and in a question the options come last, each beginning {"do":"...".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 65536 /* bytes, the newline included: no line of the referee is longer */

static char line[MAX_LINE + 1];

/* What follows `what` in the text, or NULL. */
static const char *after(const char *text, const char *what)
{
    const char *found = text == NULL ? NULL : strstr(text, what);
    return found == NULL ? NULL : found + strlen(what);
}

/* The pips that an option plays, which are all the numbers in it, up to the next option; whatever
 * plays nothing (draw, pass, bid) weighs less. */
static int weight(const char *option)
{
    int sum = 0;
    if (strncmp(option, "play", 4) != 0)
        return -1;
    while (*option != '\0' && *option != '}') {
        if (*option >= '0' && *option <= '9') {
            char *end;
            sum += (int)strtol(option, &end, 10);
            option = end;
        } else {
            option++;
        }
    }
    return sum;
}

/* The index of the option that the bot takes: the heaviest play, the first option if there is none.
 *
 * `ask` is all that you may know: your "hand", the "line" and its open "ends", how many tiles the
 * other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
 * after(ask, "\"hand\":") begins with your tiles.
 */
static int choose(const char *ask)
{
    int best = 0, heaviest = -1, index = 0;
    const char *option = after(ask, "\"options\":");
    for (; (option = after(option, "{\"do\":\"")) != NULL; index++) {
        if (weight(option) > heaviest) {
            heaviest = weight(option);
            best = index;
        }
    }
    return best;
}

static int is(const char *type)
{
    const char *said = after(line, "{\"type\":\"");
    return said != NULL && strncmp(said, type, strlen(type)) == 0;
}

int main(void)
{
    /* Two messages want an answer, the others are news. Write nothing else to stdout: to look
     * inside the bot, use fprintf(stderr, ...). */
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (is("hello\"")) {
            puts("{\"type\":\"hello\",\"name\":\"my-bot\",\"version\":\"1\"}");
        } else if (is("ask\"")) {
            long long id = strtoll(after(line, "\"id\":"), NULL, 10);
            printf("{\"type\":\"choose\",\"id\":%lld,\"choice\":%d}\n", id, choose(line));
        } else if (is("bye\"")) {
            break;
        }
        fflush(stdout); /* a pipe is no terminal: without this the answer would stay here */
    }
    return 0;
}
