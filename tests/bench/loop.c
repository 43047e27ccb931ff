// The least that a referee can do: an epoll loop that asks the bots of many games in turn, checks
// that an answer is a whole line, and keeps a deadline. No rules, no log, no JSON.
//
//     loop BOT GAMES MOVES BYTES
//
// starts two bots a game, plays MOVES questions of BYTES bytes in each game, and prints
// "CPU-seconds wall-seconds" of its own for the playing alone.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

enum { SEATS = 2, WAITING = 512 };

typedef struct {
    int in[SEATS], out[SEATS], turn;
    long id, left;
    double deadline;
    char answer[4096];
    size_t got;
} Game;

extern char **environ;
static char *question;
static size_t bytes;

static double now(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double own_cpu(void) { return now(CLOCK_PROCESS_CPUTIME_ID); }

static pid_t start(char *bot, int *in, int *out) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) exit(2);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    pid_t pid;
    char *argv[] = {bot, NULL};
    if (posix_spawn(&pid, bot, &actions, NULL, argv, environ)) exit(2);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    *in = to[1];
    *out = from[0];
    return pid;
}

static void ask(Game *game) {
    // The number stands at a fixed place, so that writing it costs what it must and no more.
    char number[24];
    int digits = sprintf(number, "%019ld", game->id);
    memcpy(question + 19, number, (size_t)digits);
    game->deadline = now(CLOCK_MONOTONIC) + 1.0;
    if (write(game->in[game->turn], question, bytes) != (ssize_t)bytes) exit(3);
}

static int answered(Game *game) {
    ssize_t got = read(game->out[game->turn], game->answer + game->got, sizeof game->answer - game->got);
    if (got <= 0 || now(CLOCK_MONOTONIC) > game->deadline) exit(4);
    game->got += (size_t)got;
    if (!memchr(game->answer, '\n', game->got)) return 0;
    game->got = 0;
    game->id++;
    game->turn ^= 1;
    return --game->left > 0;
}

int main(int argc, char **argv) {
    if (argc != 5) return 1;
    int games = atoi(argv[2]), playing = games;
    long moves = atol(argv[3]);
    bytes = (size_t)atol(argv[4]);
    question = malloc(bytes + 1);
    memset(question, ' ', bytes);
    memcpy(question, "{\"type\":\"ask\",\"id\":", 19);
    question[38] = ',';
    question[bytes - 2] = '}';
    question[bytes - 1] = '\n';
    Game *all = calloc((size_t)games, sizeof *all);
    pid_t *pids = calloc((size_t)games * SEATS, sizeof *pids);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (int n = 0; n < games; n++)
        for (int seat = 0; seat < SEATS; seat++) {
            pids[n * SEATS + seat] = start(argv[1], &all[n].in[seat], &all[n].out[seat]);
            struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[n]};
            epoll_ctl(poll, EPOLL_CTL_ADD, all[n].out[seat], &event);
        }
    double cpu = own_cpu(), wall = now(CLOCK_MONOTONIC);
    for (int n = 0; n < games; n++) {
        all[n].left = moves;
        ask(&all[n]);
    }
    struct epoll_event ready[WAITING];
    while (playing) {
        int count = epoll_wait(poll, ready, WAITING, 1000);
        if (count <= 0) return 5;
        for (int n = 0; n < count; n++) {
            Game *game = ready[n].data.ptr;
            if (answered(game))
                ask(game);
            else if (game->left == 0)
                playing--;
        }
    }
    printf("%.6f %.6f\n", own_cpu() - cpu, now(CLOCK_MONOTONIC) - wall);
    for (int n = 0; n < games; n++)
        for (int seat = 0; seat < SEATS; seat++) close(all[n].in[seat]);
    for (int n = 0; n < games * SEATS; n++) waitpid(pids[n], NULL, 0);
    return 0;
}
