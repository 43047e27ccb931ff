// Threads that wait for each other, a child process, signals, memory.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static volatile sig_atomic_t rang;

static void ring(int signal) { rang = signal; }

static void *work(void *number) {
  for (int i = 0; i < 100; i++) {
    char *waste = malloc(1 << 18);
    waste[i] = 1;
    pthread_mutex_lock(&lock);
    while (turn % 4 != *(int *)number) pthread_cond_wait(&changed, &lock);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    free(waste);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  int numbers[4] = {0, 1, 2, 3}, status;
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  signal(SIGALRM, ring);
  alarm(1);
  pause();
  if (fork() == 0) _exit(3);
  wait(&status);
  if (turn != 400 || rang != SIGALRM || WEXITSTATUS(status) != 3 || system("true")) return 1;
  puts("done");
}
