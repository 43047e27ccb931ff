/* The start of a sealed bot's JavaScript: QuickJS, and what `node.js` needs of the host.

   Of the bot and of Node's names it knows nothing: `node.js`, read from the library in each game,
   returns an object whose methods it calls (`begin`, `step`, `resolve`, `source`, `describe`). */

#include <quickjs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <wasi/api.h>

#define ROOT 3        /* The descriptor of the folder in which all paths begin. */
#define LINE 65536    /* The most bytes of a line, as the host has it. */
/* Bytes of the module's stack, 900 calls in JavaScript: a deeper one is an error that a bot can catch.
   They take up to 1 MiB of the 2 of the native stack; a text of 100,000 brackets takes 1.8. */
#define STACK 262144

static JSContext *context;
static JSValue node; /* The object that `node.js` returned. */
static JSValue rejection; /* The reason of a rejected promise that nobody has handled yet. */

/* What QuickJS calls for gettimeofday (see `build`): it takes its chance from the clock when it begins,
   and here that comes from the board's seed. */
int chance_or_time(struct timeval *result, void *zone) {
    static bool has_chance = false;
    __wasi_timestamp_t now = 0;
    (void)zone;
    if (has_chance) (void)!__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now);
    else (void)!__wasi_random_get((uint8_t *)&now, sizeof now);
    result->tv_sec = has_chance ? now / 1000000000 : now >> 20;
    result->tv_usec = has_chance ? now / 1000 % 1000000 : now & 0xfffff;
    has_chance = true;
    return 0;
}

static void write_text(int descriptor, const char *text, size_t size) {
    while (size) {
        __wasi_ciovec_t buffer = {(const uint8_t *)text, size};
        __wasi_size_t written = 0;
        if (__wasi_fd_write(descriptor, &buffer, 1, &written)) return;
        text += written;
        size -= written;
    }
}

/* --- the functions that `node.js` is given --- */

/* writeText(descriptor, text) */
static JSValue host_write(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    int descriptor = 1;
    size_t size;
    JS_ToInt32(ctx, &descriptor, arguments[0]);
    const char *text = JS_ToCStringLen(ctx, &size, arguments[1]);
    if (!text) return JS_EXCEPTION;
    write_text(descriptor, text, size);
    JS_FreeCString(ctx, text);
    return JS_UNDEFINED;
}

/* readLine(): the next line, with its end; an empty text at the end of all lines. */
static JSValue host_line(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    static uint8_t line[LINE];
    __wasi_iovec_t buffer = {line, LINE};
    __wasi_size_t size = 0;
    (void)!__wasi_fd_read(0, &buffer, 1, &size);
    return JS_NewStringLen(ctx, (const char *)line, size);
}

/* readFile(path): its bytes; undefined if there is no such file. */
static JSValue host_file(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    const char *path = JS_ToCString(ctx, arguments[0]);
    __wasi_fd_t file;
    __wasi_filestat_t facts;
    __wasi_size_t size = 0;
    JSValue result = JS_UNDEFINED;
    if (!path) return JS_EXCEPTION;
    if (!__wasi_path_open(ROOT, 0, path, 0, __WASI_RIGHTS_FD_READ, 0, 0, &file)) {
        if (!__wasi_fd_filestat_get(file, &facts) && facts.filetype == __WASI_FILETYPE_REGULAR_FILE) {
            __wasi_iovec_t buffer = {malloc(facts.size + 1), facts.size};
            if (buffer.buf) {
                (void)!__wasi_fd_read(file, &buffer, 1, &size);
                result = JS_NewArrayBufferCopy(ctx, buffer.buf, size);
                free(buffer.buf);
            }
        }
        (void)!__wasi_fd_close(file);
    }
    JS_FreeCString(ctx, path);
    return result;
}

/* textOf(bytes): what they are in UTF-8. */
static JSValue host_text(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    size_t size;
    uint8_t *bytes = JS_GetArrayBuffer(ctx, &size, arguments[0]);
    return bytes || !size ? JS_NewStringLen(ctx, (const char *)bytes, size) : JS_EXCEPTION;
}

/* bytesOf(text): its bytes in UTF-8. */
static JSValue host_bytes(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    size_t size;
    const char *text = JS_ToCStringLen(ctx, &size, arguments[0]);
    if (!text) return JS_EXCEPTION;
    JSValue result = JS_NewArrayBufferCopy(ctx, (const uint8_t *)text, size);
    JS_FreeCString(ctx, text);
    return result;
}

/* now(): the instructions so far, each of which is 1 ns. */
static JSValue host_now(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    __wasi_timestamp_t now = 0;
    (void)!__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now);
    return JS_NewInt64(ctx, now);
}

/* sleep(ns) */
static JSValue host_sleep(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    int64_t ns = 0;
    JS_ToInt64(ctx, &ns, arguments[0]);
    __wasi_subscription_t subscription = {0};
    subscription.u.tag = __WASI_EVENTTYPE_CLOCK;
    subscription.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
    subscription.u.u.clock.timeout = ns;
    __wasi_event_t event;
    __wasi_size_t events;
    (void)!__wasi_poll_oneoff(&subscription, &event, 1, &events);
    return JS_UNDEFINED;
}

/* exit(status) */
static JSValue host_exit(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    int status = 0;
    JS_ToInt32(ctx, &status, arguments[0]);
    __wasi_proc_exit(status & 0xff);
}

/* run(text, path, isModule): a script's value, or the promise of a module. */
static JSValue host_run(JSContext *ctx, JSValueConst this, int count, JSValueConst *arguments) {
    size_t size;
    const char *text = JS_ToCStringLen(ctx, &size, arguments[0]);
    const char *path = JS_ToCString(ctx, arguments[1]);
    int kind = JS_ToBool(ctx, arguments[2]) ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL;
    JSValue result = text && path ? JS_Eval(ctx, text, size, path, kind) : JS_EXCEPTION;
    JS_FreeCString(ctx, text);
    JS_FreeCString(ctx, path);
    return result;
}

static const JSCFunctionListEntry FUNCTIONS[] = {
    JS_CFUNC_DEF("writeText", 2, host_write), JS_CFUNC_DEF("readLine", 0, host_line),
    JS_CFUNC_DEF("readFile", 1, host_file),   JS_CFUNC_DEF("textOf", 1, host_text),
    JS_CFUNC_DEF("bytesOf", 1, host_bytes),   JS_CFUNC_DEF("now", 0, host_now),
    JS_CFUNC_DEF("sleep", 1, host_sleep),     JS_CFUNC_DEF("exit", 1, host_exit),
    JS_CFUNC_DEF("run", 3, host_run),
};

/* --- the calls of `node.js` --- */

static JSValue call(const char *name, int count, JSValue *arguments) {
    JSAtom atom = JS_NewAtom(context, name);
    JSValue result = JS_Invoke(context, node, atom, count, arguments);
    JS_FreeAtom(context, atom);
    return result;
}

/* Write an error to stderr, as Node does, and end. */
static _Noreturn void fail(JSValue error) {
    size_t size;
    const char *text = JS_ToCStringLen(context, &size, call("describe", 1, &error));
    if (text) write_text(2, text, size);
    __wasi_proc_exit(1);
}

static JSValue check(JSValue result) {
    if (JS_IsException(result)) fail(JS_GetException(context));
    return result;
}

static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque) {
    JSValue words[] = {JS_NewString(ctx, name), JS_NewString(ctx, base)};
    JSValue path = call("resolve", 2, words);
    const char *text = JS_IsException(path) ? NULL : JS_ToCString(ctx, path);
    return text ? js_strdup(ctx, text) : NULL;
}

static JSModuleDef *load(JSContext *ctx, const char *path, void *opaque) {
    JSValue word = JS_NewString(ctx, path), source = call("source", 1, &word);
    size_t size;
    const char *text = JS_IsException(source) ? NULL : JS_ToCStringLen(ctx, &size, source);
    if (!text) return NULL;
    JSValue module = JS_Eval(ctx, text, size, path, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    return JS_IsException(module) ? NULL : JS_VALUE_GET_PTR(module);
}

/* Keep the reason of a rejection; it ends the bot unless somebody handles it before the next step. */
static void track(JSContext *ctx, JSValueConst promise, JSValueConst reason, JS_BOOL handled, void *opaque) {
    rejection = handled ? JS_UNINITIALIZED : JS_DupValue(ctx, reason);
}

static void run_jobs(void) {
    JSContext *ctx;
    int state;
    while ((state = JS_ExecutePendingJob(JS_GetRuntime(context), &ctx)) > 0) continue;
    if (state < 0) fail(JS_GetException(ctx));
    if (!JS_IsUninitialized(rejection)) fail(rejection);
}

static JSValue words_of_bot(void) {
    size_t count, size;
    (void)!__wasi_args_sizes_get(&count, &size);
    uint8_t **words = malloc(count * sizeof *words);
    (void)!__wasi_args_get(words, malloc(size));
    JSValue list = JS_NewArray(context);
    for (size_t index = 1; index < count; index++)
        JS_SetPropertyUint32(context, list, index - 1, JS_NewString(context, (char *)words[index]));
    return list;
}

int main(void) {
    JSRuntime *runtime = JS_NewRuntime();
    JS_SetMaxStackSize(runtime, STACK);
    JS_SetModuleLoaderFunc(runtime, normalize, load, NULL);
    JS_SetHostPromiseRejectionTracker(runtime, track, NULL);
    rejection = JS_UNINITIALIZED;
    context = JS_NewContext(runtime);
    JSValue host = JS_NewObject(context), path = JS_NewString(context, "lib/node.js");
    JS_SetPropertyFunctionList(context, host, FUNCTIONS, sizeof FUNCTIONS / sizeof *FUNCTIONS);
    JSValue library[] = {host_file(context, JS_UNDEFINED, 1, &path), path, JS_FALSE};
    library[0] = check(host_text(context, JS_UNDEFINED, 1, library));
    JSValue program = check(host_run(context, JS_UNDEFINED, 3, library));
    node = check(JS_Call(context, program, JS_UNDEFINED, 1, &host));
    JSValue words = words_of_bot();
    check(call("begin", 1, &words));
    run_jobs();
    while (JS_ToBool(context, check(call("step", 0, NULL)))) run_jobs();
    run_jobs();
    return 0;
}
