"""The list of channels by which a bot could learn what is hidden: closed or open, and which test.

    python -m tests.support.channels        writes arena/SECRETS.md again

The rows are data. A channel that the sandbox closes names its probe when there is one.
"""

import ast
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).parent.parent.parent
FILE = ROOT / "arena" / "SECRETS.md"
TRESPASS = "tests/tournaments/plan/test_bot_files.py"
SECRECY = "tests/arena/match/test_secrecy.py"
EVENT = "tests/tournaments/storage/test_secrecy.py"
SET_DEALS = "tests/tournaments/storage/test_set_deals.py"
ENTRANTS = "tests/tournaments/plan/test_bot_command.py"
LEVELS = "tests/arena/sandbox/test_levels.py"
EXPORT = "tests/tournaments/site/test_export.py"
NETWORK = "tests/arena/sandbox/test_network.py"
PROCESS = "tests/arena/sandbox/test_process.py"
WIRES = "tests/arena/sandbox/test_wires.py"

State = Literal["closed", "open", "in the sandbox"]


class Channel(NamedTuple):
    """One way in which a bot could learn what is hidden from it."""

    name: str
    state: State
    measure: str
    """What closes it; of an open one, why it is open and what is left to be done about it."""
    tests: tuple[str, ...] = ()
    """Tests that fail when the measure is taken away."""


def leak(what: str) -> str:
    """Return the name of the test of a referee that leaks this."""
    return f"{SECRECY}::test_a_leak_is_caught[{what}]"


def sandboxed(name: str, measure: str, *probes: str) -> Channel:
    """Return a channel of the operating system; each probe is an attempt that must be refused."""
    return Channel(name, "in the sandbox", measure, tuple(map(blocked, probes)))


def blocked(probe: str) -> str:
    """Return the test of an attempt at the best level of the machine."""
    return f"{LEVELS}::test_blocked[{probe}]"


BYTES = f"{SECRECY}::test_neither_bytes_nor_moments_tell_what_is_hidden"

CHANNELS: tuple[Channel, ...] = (
    # --- what the referee says ---
    Channel(
        "hands, the boneyard, drawn tiles, lots",
        "closed",
        "a view is built from what its seat may know",
        (
            BYTES,
            leak("another seat's hand"),
            leak("the boneyard's next tile"),
            leak("the boneyard's order"),
            leak("a drawn tile"),
            leak("lots that are not shown"),
            leak("a round before its end"),
        ),
    ),
    Channel(
        "the order in which the tiles of a shown hand were drawn",
        "closed",
        "shown hands are sorted",
        (leak("the order in which a hand was drawn"),),
    ),
    Channel(
        "order of messages and events",
        "closed",
        "events are listed in the order in which they happened, rounds when they are over",
        (leak("the order of events"), leak("a round before its end")),
    ),
    Channel(
        "numbering of messages",
        "closed",
        "questions are numbered separately for each seat",
        (leak("question numbers across seats"),),
    ),
    Channel(
        "length of messages",
        "closed",
        "the test compares every byte",
        (leak("the length of a line"),),
    ),
    Channel(
        "option lists",
        "closed",
        "they are made only from the seat's own hand and the line",
        (leak("what the next seat could do"),),
    ),
    Channel(
        "error texts",
        "closed",
        "a foul's sentence is about the bot's own line, and no other seat receives it",
        (leak("a tile in an error text"), leak("another seat's foul")),
    ),
    Channel(
        "bytes with the others' thinking times, banks, notes and stray lines",
        "closed",
        "they go only to the log",
        (
            leak("another seat's thinking time"),
            leak("another seat's bank"),
            leak("another seat's note"),
            leak("another seat's stray line"),
        ),
    ),
    Channel(
        "the names of the others",
        "closed",
        "no message contains a name, and hellos are not passed on",
        (leak("another's name"),),
    ),
    Channel(
        "ids that carry seeds or boards",
        "closed",
        "a game's number reveals only its position in the sitting, which the bot knows",
        (
            leak("the seed in an id"),
            leak("the board in an id"),
            f"{EVENT}::test_files_published_before_a_game_have_no_part_of_a_seed",
        ),
    ),
    Channel(
        "numbers and positions of games, as keys under which one process leaves a note for another",
        "closed",
        "they are drawn from the board's seed and the game's name, so they differ in every "
        "rotation and at every table",
        (
            f"{EVENT}::test_neither_number_nor_turn_tells_a_board_that_another_process_met",
            f"{EVENT}::test_games_are_played_in_the_order_of_their_numbers",
            f"{EVENT}::test_a_game_of_another_number_does_not_fit",
        ),
    ),
    Channel(
        "tiles as such keys",
        "open",
        "every table plays a board with the same hands. A process that has played a round knows "
        "most of them, and can leave a note under them by names that no file has (below). "
        "Different deals for each table would close this, but luck would decide more",
    ),
    Channel(
        "guessable seeds",
        "closed",
        "32 random bytes from the operating system, and HMAC-SHA-256 for each board; a seed is "
        "published only when its board is finished (anyone can predict the deals of `--seed`, and "
        "who sets deals knows them; the report says so)",
        (
            f"{EVENT}::test_the_secret_is_32_bytes_of_the_systems_randomness",
            f"{EVENT}::test_a_seed_is_shown_only_when_every_game_on_its_board_is_over",
            f"{SET_DEALS}::test_the_deals_stay_private_until_their_seeds_are_public",
            f"{SET_DEALS}::test_a_bot_that_can_read_the_deals_is_refused",
        ),
    ),
    Channel(
        "deals that were public before a bot entered, or before its files changed",
        "open",
        "in a growing event, new bots play boards whose deals the logs have shown. The run, the "
        "reports and `show` count these games, and `--fresh-boards` gives new bots boards that "
        "nobody has seen",
    ),
    Channel(
        "game logs and replay pages, for other users of this machine",
        "closed",
        "they show a board's deal from its first game on, so only their owner can read them before "
        "the event is over",
        (
            f"{EVENT}::test_the_logs_are_nobody_elses_before_the_event_is_over",
            f"{EVENT}::test_the_logs_of_an_event_that_was_stopped_stay_ours",
        ),
    ),
    Channel(
        "exported decisions, for other users of this machine",
        "closed",
        "only those who may read the logs may read them; a row's vector, mask and options hold "
        "what its own seat was sent",
        (
            "tests/tournaments/dataset/test_export.py"
            "::test_who_may_not_read_the_logs_may_not_read_the_decisions",
            "tests/arena/training/test_decision_rows.py::test_rows_are_the_lines_in_every_game",
        ),
    ),
    Channel(
        "reviewed decisions and their part of the report",
        "closed",
        "they name tiles, so a review leaves out boards whose seeds are not revealed yet",
        (
            "tests/tournaments/commands/test_review.py"
            "::test_games_on_boards_that_are_still_played_wait",
        ),
    ),
    Channel(
        "the luck of draws in luck.jsonl, games.csv, the ratings and the report",
        "closed",
        "it tells which tiles came, so `report --luck` leaves out boards whose seeds are not "
        "revealed yet",
        (
            "tests/tournaments/verification/test_event_luck.py"
            "::test_the_luck_of_boards_that_are_still_played_waits",
        ),
    ),
    Channel(
        "chances, luck and values of options on a reviewed replay page",
        "closed",
        "they follow from all hands, so the page of one seat has none; pages with all hands are "
        "as private as the logs",
        (
            "tests/arena/ui/test_game_review.py::test_the_page_of_a_seat_has_no_review",
            f"{EVENT}::test_the_logs_are_nobody_elses_before_the_event_is_over",
        ),
    ),
    Channel(
        "a bot's own files, changed after deals were public, without a new version",
        "in the sandbox",
        "a fingerprint covers contents, names, paths, links and empty folders; bots cannot read "
        "`__pycache__`, which it leaves out",
        (
            f"{ENTRANTS}::test_everything_that_names_reveal_is_part_of_the_fingerprint[an empty "
            "folder]",
            f"{ENTRANTS}::test_no_name_of_a_folder_above_keeps_files_out_of_the_fingerprint",
            f"{ENTRANTS}::test_files_outside_the_fingerprint_cannot_be_read",
        ),
    ),
    Channel(
        "an interpreter's packages and the times of files, changed after deals were public",
        "open",
        "no fingerprint covers them. If authors can write to them, as in their own virtual "
        "environment, run copies of their bots on an interpreter of the machine",
    ),
    Channel(
        "a bot's own files, changed during a run",
        "open",
        "fingerprints are taken when a run begins, and only the next run finds the change. In a "
        "class league, run copies that no author can write to",
    ),
    Channel(
        "the owner of a worker",
        "open",
        "a worker receives the seeds of the boards that it plays, while other tables may still "
        "have to play them",
    ),
    Channel(
        "stderr",
        "closed",
        "it goes only to the log of a foul, shortened and escaped",
        (
            f"{SECRECY}::test_last_words_reach_no_other_seat",
            "tests/arena/match/test_hostile.py::test_last_words_are_kept_and_harmless",
        ),
    ),
    # --- when the referee says it ---
    Channel(
        'the referee\'s own timing: that a seat has only one option, with `forced = "ask"`',
        "closed",
        "every turn is a question, and every seat is asked whether it refuses a deal",
        (
            BYTES,
            leak("an only option is not asked"),
            leak("only who may refuse a deal is asked"),
        ),
    ),
    Channel(
        'the referee\'s own timing: that a seat has only one option, with `forced = "skip"`',
        "open",
        "it is the default because it is faster. A bot that times its questions can infer turns "
        "without a question; `--ask-forced` closes this",
    ),
    Channel(
        "the referee's own timing: microseconds of computing",
        "open",
        "listing the options of a large hand takes longer; the difference is far below the noise "
        "of a scheduler, but nothing hides it",
    ),
    Channel(
        "the others' thinking times",
        "open",
        "a question arrives when the others have answered, and a bot with one option may answer "
        "faster. A bot can hide this by waiting; the referee does not hide it",
    ),
    Channel(
        "the foul of another seat",
        "open",
        "at a table of three or more its turns take no time after the foul; its tiles stay hidden",
    ),
    # --- memory across games ---
    Channel(
        "memory across games (sittings)",
        "closed",
        "a process plays one rotation of a board and never plays that board again, even after a "
        "stop",
        (
            f"{EVENT}::test_no_sitting_meets_a_board_twice_or_seats_an_entrant_twice",
            f"{EVENT}::test_no_process_meets_a_board_twice_even_when_the_run_is_stopped",
        ),
    ),
    Channel(
        "memory across processes: names that no file has",
        "open",
        "the kernel remembers for a long time which names it did not find in a folder of the "
        "disk: `access()` on such a name takes 1.0 to 1.8 µs, and 4.4 to 6.0 the first time. "
        "After a round a bot knows the opponent's hand, and asks for names made of that hand, as "
        "the key, and of its own. The process that plays the board from the other seat is dealt "
        "the key and looks: 489 of 493 hands were right, at levels A, B and C and as a plain user "
        "with `require`, and the bot won 42 games of 60 against its twin without the trick. No "
        "filter can read a name. In memory (tmpfs) the kernel remembers none: with all that a "
        "Python needs copied there (74 MB, in 1.7 s) 50 % of bits came right, as by chance, and "
        "91 % without. But the copy would have to know what each language reads, and hold each "
        "bot's own files. Sealed (WebAssembly) bots, which make no system calls, are the way to "
        "close this, and do not exist yet",
    ),
    sandboxed(
        "memory across processes: files that another process of the same bot left",
        "what a bot writes is deleted with its process, and no other process can read it",
        "note-in-own-tmp",
        "write-own-folder",
        "write-home",
    ),
    # --- teaming ---
    Channel(
        "teaming at one table: two processes of one entrant",
        "closed",
        "an entrant has at most one seat at a table",
        (f"{EVENT}::test_no_sitting_meets_a_board_twice_or_seats_an_entrant_twice",),
    ),
    Channel(
        "teaming at one table: entrants of one author",
        "open",
        "at three or more seats two bots can help each other by their moves. They are not told who "
        "plays, but their authors can agree on signals",
    ),
    # --- the operating system ---
    sandboxed(
        "the referee's memory",
        "another process namespace, another user",
        "referee-memory-file",
        "referee-memory-call",
        "referee-memory-map",
    ),
    sandboxed(
        "environment",
        "a bot gets its own environment, which contains nothing of the referee's",
        "environment",
        "referee-environment",
        "other-bot-environment",
    ),
    sandboxed(
        "descriptors",
        "a bot inherits only its three pipes",
        "descriptors",
        "referee-descriptor-open",
        "referee-descriptor-take",
        "other-bot-descriptor-open",
    ),
    sandboxed(
        "ptrace",
        "another process namespace; the system call is refused",
        "referee-trace",
        "other-bot-trace",
    ),
    sandboxed(
        "signals, priorities and limits of others",
        "another process namespace, another user",
        "referee-signal",
        "other-bot-signal",
        "other-bot-renice",
        "other-bot-pin",
        "other-bot-limit",
    ),
    sandboxed(
        "processor time of the other bot",
        "another process namespace",
        "other-bot-processor-time",
        "other-bot-processor-clock",
    ),
    sandboxed(
        "files of other bots",
        "a bot sees its program and the files that its command names, read-only",
        "read-other-bots-program",
        "write-other-bots-program",
        "write-other-bots-folder",
    ),
    sandboxed(
        "game logs",
        "the event's folder is not in a bot's view",
        "list-game-logs",
        "read-game-log",
        "write-game-log",
    ),
    Channel(
        "what `watch` and `play` serve",
        "closed",
        "the server listens on this machine only, with a new secret token each time; hands of "
        "unfinished games are hidden unless `--open` is given",
        (
            "tests/arena/engine/test_onlooker.py::test_an_onlooker_is_sent_the_same_bytes_in_every_world",
            "tests/arena/engine/test_onlooker.py::test_a_view_through_a_seat_would_be_caught",
            "tests/arena/analysis/test_frames.py::test_moves_lead_to_each_message_over_tables_of_the_replay",
            "tests/arena/ui/test_server.py::test_without_the_key_nothing_is_found",
            "tests/arena/ui/test_server.py::test_a_strangers_page_gets_nothing",
            "tests/arena/ui/test_server.py::test_a_socket_is_opened_by_our_page_only",
            "tests/tournaments/site/test_server.py::test_nothing_else_is_served",
            "tests/tournaments/site/test_server.py::test_the_secret_is_in_nothing_that_is_served",
        ),
    ),
    Channel(
        "the public page of `publish --delay` and of a league",
        "closed",
        "only what any spectator may know without helping a seat in a later game: a game is shown "
        "when it is as old as the delay, its board's seed is revealed (every game on the board is "
        "over), and its sitting is over, or none of its bots can read the page (sandbox level A or "
        "B, no `network`): else a bot could read there who its opponents are and how they played. "
        "All but the delay holds as of now, not as of the moment shown. Of games on open boards "
        "the standings have the sum, as in `publish`: a bot is not told on which board it plays. "
        "Of those in play at the moment shown, the page has the names. Of sittings that go on, "
        "with a bot that could read the page, it has nothing",
        (
            f"{EXPORT}::test_hidden_records_change_no_byte",
            f"{EXPORT}::test_a_sitting_that_goes_on_is_shown_only_if_its_bots_cannot_read_it",
            f"{EXPORT}::test_nothing_of_a_sitting_that_goes_on_is_shown",
            f"{EXPORT}::test_of_open_boards_only_the_standings_and_names_are_shown",
            f"{EXPORT}::test_the_state_is_that_of_some_time_ago",
            "tests/tournaments/site/test_export_secrecy.py::test_no_byte_tells_of_an_open_board",
        ),
    ),
    Channel(
        "files below a folder that a bot can read",
        "closed",
        "an event in a folder that a bot can read is refused, and no word of a command opens the "
        "whole folder in which the bot starts",
        (
            "tests/tournaments/plan/test_bot_command.py::test_an_event_in_what_a_bot_may_read_is_refused",
            "tests/tournaments/plan/test_bot_command.py::test_an_event_where_every_bot_may_read_is_refused",
            "tests/tournaments/plan/test_bot_command.py::test_no_word_of_a_command_opens_its_whole_folder",
        ),
    ),
    Channel(
        "symbolic links in a bot's files",
        "closed",
        "a link that leads out of the bot's folder is refused, unless its target is named "
        "explicitly. A file that became a link after this check is not opened. An author who can "
        "write to the folder while bots start may still win a race against the check",
        (
            f"{TRESPASS}::test_a_link_to_the_organisers_key_that_a_command_names_is_refused",
            f"{TRESPASS}::test_a_link_to_a_folder_does_not_open_what_lies_behind_it",
            f"{TRESPASS}::test_a_program_that_is_a_link_does_not_open_the_folder_of_its_target",
            f"{TRESPASS}::test_another_events_secret_is_refused_by_whatever_way",
            f"{TRESPASS}::test_a_file_that_became_a_link_after_the_check_is_not_opened",
            f"{TRESPASS}::test_a_cluster_is_not_sent_what_a_link_leads_to",
        ),
    ),
    Channel(
        "hard links in a bot's files",
        "open",
        "a hard link is the file itself. A user who cannot read a file cannot make a hard link to "
        "it if `fs.protected_hardlinks` is 1, which is usual",
        (),
    ),
    Channel(
        "named pipes in a folder that two bots can read",
        "closed",
        "a bot with a named pipe among its files is refused",
        (f"{TRESPASS}::test_a_named_pipe_among_a_bots_files_is_refused",),
    ),
    Channel(
        "`build` commands",
        "open",
        "they run as the organiser and without a sandbox, and can include any file that the "
        "organiser can read. Build untrusted code elsewhere, and enter the result",
    ),
    sandboxed(
        "seeds on the disk",
        "the event's folder is not in a bot's view, and only its owner can open `private/`",
        "read-secret-key",
        "read-event-file",
        "read-through-referee-root",
    ),
    sandboxed(
        "/tmp", "a private one in memory", "note-in-tmp", "note-in-own-tmp", "note-in-var-tmp"
    ),
    sandboxed("/dev/shm", "a private one in memory", "note-in-shared-memory"),
    sandboxed(
        "sockets",
        "a network namespace; the system call is refused",
        "unix-referee",
        "abstract-unix-referee",
        "abstract-unix-other-bot",
        "netlink-socket",
    ),
    sandboxed(
        "loopback",
        "a network namespace without a network",
        "tcp-referee",
        "udp-referee",
        "tcp-other-bot",
        "same-network",
        "route-outside",
    ),
    sandboxed(
        "System V IPC",
        "an IPC namespace; the system calls are refused",
        "system-v-memory",
        "system-v-semaphore",
        "system-v-message",
    ),
    sandboxed(
        "POSIX message queues", "an IPC namespace; the system call is refused", "posix-message"
    ),
    sandboxed(
        "keyrings",
        "the system calls are refused",
        "session-keyring",
        "user-keyring",
        "own-key",
        "key-list",
    ),
    sandboxed(
        "locks on shared files",
        "the system calls are refused",
        "file-lock",
        "record-lock",
        "open-file-lock",
        "lease",
    ),
    sandboxed(
        "inotify on shared files",
        "the system calls are refused",
        "file-watch",
        "watch-file-system",
        "folder-notice",
    ),
    sandboxed(
        "pages of shared files: dropping one from memory, asking whether one is there",
        "the system calls, or the advices and flags that do it, are refused",
        "drop-pages",
        "read-ahead",
        "read-if-in-memory",
        "list-pages-in-memory",
        "count-pages-in-memory",
        "place-of-a-page",
        "advise-cold",
        "advise-page-out",
        "advise-read-ahead",
        "advise-populate",
        "advise-merge",
        "path-in-memory",
        "flush-disk",
    ),
    sandboxed(
        "futexes in shared files",
        "waking and requeueing waiters is refused, unless the futex is private to one process",
        "futex-wake",
        "futex-requeue",
        "futex-wake-by-new-call",
        "futex-wait-by-new-call",
    ),
    sandboxed(
        "metadata of a shared file or device: times, attributes, hints on its use",
        "the system calls are refused, or return without an effect",
        "read-time",
        "write-times",
        "write-attribute",
        "write-device-times",
        "write-hint",
    ),
    sandboxed(
        "resources of the machine that one bot can exhaust and another can test",
        "the system calls are refused, and there are no terminals",
        "asynchronous-reads",
        "huge-page",
        "terminal",
        "descriptor-on-its-way",
    ),
    sandboxed(
        "choosing or interrupting cores",
        "the system calls are refused",
        "choose-core",
        "interrupt-cores",
    ),
    sandboxed(
        "counters of the machine: load, threads, memory, terminals, open files, keys, disks",
        "all of /proc except a bot's own processes is covered, and the system calls are refused",
        "load",
        "load-by-call",
        "processor-counters",
        "memory-counters",
        "page-counters",
        "disk-counters",
        "interrupt-counters",
        "pressure",
        "lock-list",
        "terminal-counter",
        "open-file-counter",
        "key-counter",
        "disk-space",
    ),
    Channel(
        "the channels in `tests/bots/hostile/wires.py`: two bots that try all of them for a whole "
        "event pass no hand",
        "in the sandbox",
        "the allowlist of system calls and the covers of /proc",
        (
            f"{WIRES}::test_no_hand_passes_in_a_whole_event",
            f"{WIRES}::test_no_hand_passes_at_a_table",
            f"{WIRES}::test_without_the_filter_hands_pass",
            f"{WIRES}::test_without_the_covers_of_proc_hands_pass",
        ),
    ),
    sandboxed(
        "shared uid limits",
        "a separate user or user namespace for each bot process",
        "processes-limit",
        "other-bot-limit",
    ),
    sandboxed(
        "a full disk",
        "a bot can write only to memory, within its limit",
        "file-size-limit",
        "tmp-limit",
        "shared-folder-limit",
        "write-own-folder",
    ),
    sandboxed(
        "processes that outlive their bot",
        "the process namespace ends with its first process",
        "outlive-daemon",
        "outlive-group",
        "outlive-stubborn",
        "outlive-child",
    ),
    Channel(
        "cold reads of shared files",
        "open",
        "the first bot that reads a page waits for the disk, the next does not; each can time this "
        "or count its page faults. No bot can make a page cold again, so each page carries one bit "
        "once. A virtual machine for each bot would close this channel and all that follow",
    ),
    Channel(
        "pages of a library in another bot's memory",
        "open",
        "`/proc/self/smaps` and `pagemap` show whether another process maps the page. A bot's own "
        "folder of /proc cannot be covered, because its number is not known beforehand. A launcher "
        "inside the sandbox could shut it by Landlock, and the number of an eventfd too: all "
        "runtimes bear that, but each start costs 15 ms more, and while the sequential numbers "
        "stay open it would stop nobody",
    ),
    Channel(
        "the end of a thread",
        "open",
        "a thread can request that its end is signalled at a page of a library, where a thread of "
        "the other bot waits. Without that call no thread could be joined, and Java would not "
        "start",
    ),
    Channel(
        "sequential numbers from the kernel",
        "open",
        "one counter numbers the pipes and sockets (inode numbers and `SO_COOKIE`) of all bots, so "
        "each bot can see how many the others have created",
    ),
    Channel(
        "sequential numbers of sessions",
        "open",
        "`/proc/self/autogroup` shows how many sessions the machine has had, and a bot's own "
        "folder of /proc cannot be covered. It tells how many bots started before, and carries no "
        "bits: no bot can start a session",
    ),
    Channel(
        "sequential numbers of pidfds and memory files",
        "in the sandbox",
        "the system call, or the flag that makes one, is refused",
        (
            f"{PROCESS}::test_no_number_is_taken_from_the_machines_pidfds",
            f"{PROCESS}::test_memory_that_stays_when_nobody_maps_it_is_refused",
        ),
    ),
    Channel(
        "counters of the machine's network",
        "open",
        "`/proc/self/net/softnet_stat` counts the packets of the whole machine and `sockstat` its "
        "TCP sockets. Without a `network` a bot can only read them; two bots with a network, who "
        "could talk behind it anyway, can send bits by them",
    ),
    Channel(
        "the number of an eventfd",
        "open",
        "`/proc/self/fdinfo` shows it, and it is the lowest number that is free on the machine. A "
        "bot that holds some eventfds sends bits that another bot reads without errors, any number "
        "of times. Node.js does not start without the call, Java's selectors and Go's network need "
        "it too, and a bot's own folder of /proc cannot be covered",
    ),
    Channel(
        "limits per user, if bots run as a plain user",
        "open",
        "pipe buffers are limited per user: if one bot exhausts the limit, another's pipes get "
        "smaller. As root each bot has its own user",
    ),
    Channel(
        "the network that an event opens to a bot (`network`)",
        "in the sandbox",
        "a proxy in the bot's own network namespace opens the listed addresses only and resolves "
        "names itself, public names to public addresses only; no other bot can reach it, and its "
        "bytes and connections are bounded",
        (
            f"{NETWORK}::test_the_listed_address_is_reached_and_nothing_else_nor_by_another_bot",
            f"{NETWORK}::test_the_test_finds_a_proxy_that_opens_too_much",
            f"{NETWORK}::test_bytes_are_bounded",
        ),
    ),
    Channel(
        "variables that an event gives to a bot (`environment`)",
        "in the sandbox",
        "no other bot can see its processes; where the bot writes a value undisguised, the name "
        "takes its place",
        (
            f"{NETWORK}::test_a_key_that_its_bot_tells_is_in_no_log",
            f"{NETWORK}::test_below_level_b_neither_is_opened[opened1-C]",
        ),
    ),
    Channel(
        "what stands behind an address of `network`",
        "open",
        "two processes that reach a service which keeps what it is told can tell each other their "
        "hands: two bots with a network, or one bot, whose other process plays the other seats of "
        "the same board. Behind one address there may be many hosts. The report names each bot "
        "with a network, and bots that reach the same host. Open only services of people you "
        "trust, such as model providers",
    ),
    Channel(
        "CPU contention",
        "open",
        "bots share cores, caches and memory bandwidth, so a bot can measure whether others are "
        "busy; on machines with variable clock rates /proc/cpuinfo shows it",
    ),
)


def missing(test: str) -> str | None:
    """Return why a test that is named does not exist; its case is looked up by who knows the
    cases."""
    path, _, name = test.partition("::")
    function, _, _ = name.partition("[")
    if not (ROOT / path).is_file():
        return f"{path} does not exist"
    tree = ast.parse((ROOT / path).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    if not any(isinstance(node, functions) and node.name == function for node in ast.walk(tree)):
        return f"{path} has no {function}"
    return None


def table() -> str:
    """Return the list as Markdown."""
    lines = [
        "# Secrets: every channel that we know",
        "",
        "This page lists every channel by which a bot could learn what its seat may not know: the",
        "closed ones with the measure that closes them and the tests that fail without it, and the",
        "open ones with the reason. `python -m tests.support.channels` writes it; a test checks "
        "it.",
        "",
        "*In the sandbox* means closed at sandbox levels A and B. "
        "`tests/arena/sandbox/test_levels.py`",
        "lists what level C leaves open; level D and off leave nearly everything open. This table "
        "has",
        "the number of attempts that succeed, of the 175 in `tests/attacks`:",
        "",
        "| level | as root | as a plain user |",
        "| --- | --- | --- |",
        "| A | 4 (traces that the kernel leaves) | 4 |",
        "| B | 4 | 4 |",
        "| C | 25 (also the presence of others, and counters of the machine) | 28 |",
        "| D | 93 | 141 |",
        "| off | 166 | 148 |",
        "",
        "| channel | state | measure, or reason why it is open | tests |",
        "| --- | --- | --- | --- |",
    ]
    for channel in CHANNELS:
        tests = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in channel.tests)
        state = f"**{channel.state}**" if channel.state == "open" else channel.state
        lines.append(f"| {channel.name} | {state} | {channel.measure} | {tests} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(table())
