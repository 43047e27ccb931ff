/* Any legal option, each as likely as the next: a random bot in C11, without any library.
 *
 *     cc -O2 -std=c11 -o random_c random_bot.c
 *
 * No JSON parser is needed. Lines are compact JSON, without blanks; `type` comes first, `id`
 * second, and in a question the options come last. So the options are counted by counting the
 * text "do": behind the last "options":, and the answer is a number below that count.
 *
 * Chance without surprise: the choice comes from a hash of the question itself (FNV-1a, then
 * mixed until every bit depends on every byte). The same question gets the same answer in any
 * process, so a game with this bot replays, and nothing has to be remembered.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 65536 /* bytes, the newline included: the protocol's promise */

static char line[MAX_LINE + 1];

/* The next line without its newline, false at the end of input. A longer one is no message of
 * ours: it is read to its end and comes out empty. */
static bool read_line(void)
{
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (length < MAX_LINE)
            line[length] = (char)c;
        length += length <= MAX_LINE;
    }
    line[length < MAX_LINE ? length : 0] = '\0';
    return c != EOF;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

/* How often `what` occurs from `text` on. */
static unsigned count(const char *text, const char *what)
{
    unsigned found = 0;
    while ((text = strstr(text, what)) != NULL) {
        found++;
        text += strlen(what);
    }
    return found;
}

/* What follows the last `what`, or NULL. */
static const char *after_last(const char *text, const char *what)
{
    const char *found = NULL;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        found = text;
    }
    return found;
}

static void answer(void)
{
    const char *id = strstr(line, "\"id\":");
    const char *options = after_last(line, "\"options\":");
    if (id == NULL || options == NULL)
        return;
    unsigned many = count(options, "\"do\":");
    unsigned choice = many > 0 ? (unsigned)(hash(line) % many) : 0;
    unsigned long long number = strtoull(id + strlen("\"id\":"), NULL, 10);
    printf("{\"type\":\"choose\",\"id\":%llu,\"choice\":%u}\n", number, choice);
}

int main(void)
{
    while (read_line()) {
        if (starts_with(line, "{\"type\":\"hello\""))
            puts("{\"type\":\"hello\",\"name\":\"random-c\",\"version\":\"1\"}");
        else if (starts_with(line, "{\"type\":\"ask\""))
            answer();
        else if (starts_with(line, "{\"type\":\"bye\""))
            break;
        fflush(stdout); /* a pipe is not a terminal: without this the answer stays here */
    }
    return 0;
}
