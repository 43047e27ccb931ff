/* The start of a sealed bot's Python, in the place of CPython's own program.

   `prepare` runs once, when the interpreter is built: it initialises CPython, imports the modules that
   most bots need, and the memory that is left becomes the module's data. `start` runs in each game.
   While it is prepared nothing may come from the machine, else two builds differ: chance is 0, and so
   is the clock. */

#define Py_BUILD_CORE 1
#include <Python.h>
#include "pycore_interp.h"
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

static bool is_prepared = false;

int getentropy(void *buffer, size_t size) {
    if (is_prepared) return __wasi_random_get(buffer, size) ? -1 : 0;
    memset(buffer, 0, size);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    __wasi_timestamp_t now = 0;
    (void)clock; /* The host has one clock: the work done. */
    if (is_prepared) __wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now);
    result->tv_sec = now / 1000000000;
    result->tv_nsec = now % 1000000000;
    return 0;
}

/* The library's walks a ring of threads, which no code closes in a module without them: it has no end. */
int pthread_key_delete(pthread_key_t key) {
    (void)key;
    return 0;
}

/* Zig's measure the whole text first: Python's parser, which looks for the end of each line, would be
   quadratic (a module of 80 KB took 1,300 million instructions). */
char *strchr(const char *text, int letter) {
    for (; *text != (char)letter; text++)
        if (!*text) return NULL;
    return (char *)text;
}

char *strchrnul(const char *text, int letter) {
    while (*text && *text != (char)letter) text++;
    return (char *)text;
}

static void check(PyStatus status) {
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

void __wasm_call_ctors(void);

__attribute__((export_name("wizer-initialize"))) void prepare(void) {
    __wasm_call_ctors();
    PyPreConfig preconfig;
    PyPreConfig_InitPythonConfig(&preconfig);
    preconfig.utf8_mode = 1;
    preconfig.use_environment = 0;
    check(Py_PreInitialize(&preconfig));
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.use_environment = 0;
    config.user_site_directory = 0;
    config.write_bytecode = 0;
    config.install_signal_handlers = 0;
    /* The order of a set of texts must be the same on every machine. */
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    config.module_search_paths_set = 1;
    check(PyConfig_SetString(&config, &config.home, L"/"));
    check(PyConfig_SetString(&config, &config.program_name, L"python"));
    check(PyConfig_SetString(&config, &config.executable, L"python"));
    check(PyWideStringList_Append(&config.module_search_paths, L"/lib"));
    check(Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
    if (PyRun_SimpleString("import boot; boot.prepare()") < 0) __builtin_trap();
    is_prepared = true;
}

/* Give Python the bot's words: the first is its program. */
static void set_words(PyConfig *config) {
    size_t count, size;
    __wasi_args_sizes_get(&count, &size);
    uint8_t *words[count];
    char *text = PyMem_RawMalloc(size);
    __wasi_args_get(words, (uint8_t *)text);
    PyObject *argv = PyList_New(0);
    for (size_t index = 1; index < count; index++) {
        wchar_t *word = Py_DecodeLocale((char *)words[index], NULL);
        check(PyWideStringList_Append(&config->argv, word));
        PyList_Append(argv, PyUnicode_FromWideChar(word, -1));
    }
    PySys_SetObject("argv", argv);
    config->run_filename = config->argv.items[0];
}

__attribute__((export_name("_start"))) void start(void) {
    PyConfig *config = (PyConfig *)_PyInterpreterState_GetConfig(PyInterpreterState_Get());
    config->argv.length = 0;
    set_words(config);
    chdir("/bot");
    if (PyRun_SimpleString("boot.begin()") < 0) __builtin_trap();
    __wasi_proc_exit(Py_RunMain());
}
