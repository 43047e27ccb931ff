/* The strongest sample bot: information-set Monte Carlo tree search, with inference and an exact
 * solver for endgames, in GNU C11 (for its integers of 128 bits) and no library but libm.
 *
 *     cc -O2 -std=gnu11 -o ismcts ismcts.c -lm
 *     ./ismcts [--simulations N]
 *
 * montecarlo.py imagines hidden tiles, plays on by a rule of thumb and takes the best mean. This
 * bot goes further in four ways, each a part of this file:
 *
 * WORLDS   Worlds are not equally likely. Whoever held a good play would have made it, so each
 *          move of the others speaks for some hands and against others. `likelihood` says how well
 *          a hand explains the moves of its seat, if that seat plays about as our own policy does.
 *          A walk over worlds (Metropolis: swap two hidden tiles, keep the swap as often as the
 *          new world is likelier) visits each world as often as it is likely.
 * SEARCH   One tree for all worlds. A node stands for what everybody has seen done; in each
 *          simulation only the moves are open that the world of that simulation allows. So what is
 *          learnt in one world is used in the others, and nobody plays as if it saw the tiles.
 *          Which move is tried is decided by its mean so far, and by the policy while there are few
 *          tries (PUCT).
 * SOLVER   When the boneyard is used up and few tiles are left, a simulation is not played on but
 *          solved (alpha-beta), as if all saw all tiles: by then they nearly do. Of two seats each
 *          knows every tile then: the bot answers from the solver, and no play can be sure of more
 *          points in this round.
 * VALUE    What a round brings is weighed by what it does for the game: at 95 of 100 points a
 *          small sure win is worth more than a large unsure one.
 *
 * What it found out: where the rules let a seat draw although it can play (`draw`), drawing early is
 * often right, in a third of such questions. No rule of thumb below montecarlo.py does it, and a
 * search that hardly tries it loses to one that does.
 *
 * Time: at most SHARE of what a question allows, bank included, so that no question can empty the
 * bank; and at most `simulations`, so that the same question gets the same answer on a slow machine
 * too. Ten to twenty milliseconds are usual; with more `--simulations` it uses more of its clock.
 * The dice are seeded with the question.
 *
 * All rules are followed but bids (it checks, and expects that all do) and chips (it expects that
 * nobody runs out of them). Sets of more than 128 tiles are left to a rule of thumb, and so is a
 * question that does not add up: what the referee says is read, but nothing is taken on trust that
 * could lead outside an array.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- settings: each was chosen by playing some hundred games against the others ---- */

static int simulations = 5000;       /* for each question */
static const double SHARE = 0.3;     /* of the time for a question, at most */
static const double EXPLORE = 0.15;  /* how much the policy weighs against the means */
static const double NOISE = 1.5;     /* how much chance there is in a simulated move */
static const double COOL = 2.0;      /* temperature: how far the others may stray from the policy */
static const double STRAY = 0.1;     /* how often they play anything at all */
enum { SWAPS = 10 };                 /* steps of the walk between two worlds */
enum { SOLVE_TILES = 8 };            /* tiles in all hands from which on a simulation is solved */
enum { SOLVE_NODES = 3000 };         /* positions that this may take */
enum { NODES_A_MS = 500 };           /* positions solved in a millisecond, at the very least */
static const double PIPS = 0.065, DOUBLE = 1.1, STUCK = 20, FITS = 0.3, SAFE = 0.7; /* policy */

/* ---- dice ---- */

static uint64_t dice_state;

static uint64_t dice(void) /* splitmix64 */
{
    uint64_t z = dice_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)((dice() >> 32) * (uint64_t)n >> 32); }

static double fraction(void) { return (double)(dice() >> 11) * 0x1p-53; }

/* ---- sets of tiles: a bit for each ---- */

typedef unsigned __int128 Set;
enum { MOST_TILES = 128, MOST_SEATS = 8, MOST_MOVES = 600, MOST_PIPS = 19 };

static Set bit(int tile) { return (Set)1 << tile; }

static int count(Set set)
{
    return __builtin_popcountll((uint64_t)set) + __builtin_popcountll((uint64_t)(set >> 64));
}

static int lowest(Set set)
{
    uint64_t low = (uint64_t)set;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64));
}

#define EACH(tile, set) \
    for (Set rest_##tile = (set); rest_##tile; rest_##tile &= rest_##tile - 1) \
        for (int tile = lowest(rest_##tile), once_##tile = 1; once_##tile; once_##tile = 0)

/* ---- JSON: a line becomes a tree of nodes ---- */

enum { MAX_LINE = 65536, MAX_DEPTH = 16 };
typedef enum { NONE, NUMBER, TEXT, LIST, OBJECT, YES, NO } Kind;
typedef struct Json {
    Kind kind;
    long long number;
    const char *text, *key; /* in the line, not ended by a zero */
    int length, key_length;
    struct Json *child, *next;
} Json;

static char line[MAX_LINE + 2];
static Json nodes[MAX_LINE / 2 + 2];
static int used_nodes;
static const char *at; /* what is read next */

static bool is_text(const char *text, int length, const char *word)
{
    return (int)strlen(word) == length && strncmp(text, word, (size_t)length) == 0;
}

static const char *read_text(int *length) /* escapes stay as they are: no word of ours has one */
{
    const char *start = ++at;
    while (*at && *at != '"')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    *length = (int)(at - start);
    at += *at == '"';
    return start;
}

static Json *read_value(int depth);

static Json *read_many(char end, int depth)
{
    Json *first = NULL, **last = &first;
    at++;
    while (*at && *at != end) {
        const char *key = NULL;
        int key_length = 0;
        if (end == '}') {
            key = read_text(&key_length);
            at += *at == ':';
        }
        Json *one = read_value(depth + 1);
        if (one == NULL)
            return first;
        one->key = key;
        one->key_length = key_length;
        *last = one;
        last = &one->next;
        at += *at == ',';
    }
    at += *at == end;
    return first;
}

static Json *read_value(int depth)
{
    if (depth > MAX_DEPTH || *at == '\0' || used_nodes >= MAX_LINE / 2)
        return NULL;
    Json *json = &nodes[used_nodes++];
    *json = (Json){0};
    if (*at == '{' || *at == '[') {
        json->kind = *at == '{' ? OBJECT : LIST;
        json->child = read_many(*at == '{' ? '}' : ']', depth);
    } else if (*at == '"') {
        json->kind = TEXT;
        json->text = read_text(&json->length);
    } else if (*at == 't' || *at == 'f' || *at == 'n') {
        json->kind = *at == 't' ? YES : *at == 'f' ? NO : NONE;
        at += strspn(at, "truefalsn");
    } else {
        char *end;
        json->kind = NUMBER;
        json->number = strtoll(at, &end, 10);
        at = end + strspn(end, ".0123456789eE+-");
        if (at == end && end == line)
            return NULL;
        if (*at && *at != ',' && *at != ']' && *at != '}')
            at++; /* not JSON: go on somehow, but do go on */
    }
    return json;
}

static Json *get(const Json *object, const char *key)
{
    for (Json *one = object ? object->child : NULL; one; one = one->next)
        if (one->key && is_text(one->key, one->key_length, key))
            return one;
    return NULL;
}

static long long number(const Json *object, const char *key, long long otherwise)
{
    const Json *found = get(object, key);
    return found && found->kind == NUMBER ? found->number : otherwise;
}

static bool flag(const Json *object, const char *key, bool otherwise)
{
    const Json *found = get(object, key);
    return found && (found->kind == YES || found->kind == NO) ? found->kind == YES : otherwise;
}

static bool says(const Json *object, const char *key, const char *word)
{
    const Json *found = get(object, key);
    return found && found->kind == TEXT && is_text(found->text, found->length, word);
}

static int length_of(const Json *list)
{
    int length = 0;
    for (const Json *one = list ? list->child : NULL; one; one = one->next)
        length++;
    return length;
}

/* What is counted with here: numbers so small that no sum of them overflows. */
static int small(long long number)
{
    enum { MOST = 10000000 };
    return (int)(number > MOST ? MOST : number < -MOST ? -MOST : number);
}

static int whole(const Json *object, const char *key, int otherwise)
{
    return small(number(object, key, otherwise));
}

static int entry(const Json *list, int index)
{
    for (const Json *one = list ? list->child : NULL; one; one = one->next)
        if (index-- == 0)
            return small(one->number);
    return 0;
}

/* ---- the rules of this game ---- */

typedef enum { PLAY_ON, AT_ONCE, CALLED } Blocked;
typedef enum { OTHERS_MINUS_OWN, OTHERS, EVERYBODY, DIFFERENCE, ONE, NOTHING } Formula;
typedef enum { NOBODY, BLOCKER, FEWEST_TILES, LOWEST_END, OUTSIDER } Tie;

static struct {
    int tiles, highest, whole, high[MOST_TILES], low[MOST_TILES], pips[MOST_TILES], blank;
    Set all, fits[MOST_PIPS];
    int seats, step, limit, reserve, fee, bonuses, bonus[64], capicu, out_with_blank;
    bool known, partners, two, at_once, when_able, leader_too, draw_ends, optional, pot, out_wins;
    Blocked blocked;
    Formula points_out, points_blocked;
    Tie tie;
    int target, rounds;
} R;

static void make_tiles(bool doubles, int double_blank)
{
    R.tiles = 0;
    memset(R.fits, 0, sizeof R.fits);
    for (int sum = 0; sum <= 2 * R.highest; sum++) /* in order of weight */
        for (int low = 0; low <= sum / 2; low++)
            if (sum - low <= R.highest && (doubles || 2 * low < sum)) {
                int tile = R.tiles++;
                R.high[tile] = sum - low;
                R.low[tile] = low;
                R.pips[tile] = sum ? sum : double_blank;
                R.fits[low] |= bit(tile);
                R.fits[sum - low] |= bit(tile);
            }
    R.all = R.tiles == MOST_TILES ? ~(Set)0 : bit(R.tiles) - 1;
    R.whole = R.highest + doubles;
    R.blank = doubles ? 0 : -1;
}

static int one_of(const Json *group, const char *key, const char *const *words, int otherwise)
{
    for (int index = 0; words[index]; index++)
        if (says(group, key, words[index]))
            return index;
    return otherwise;
}

static void read_scoring(const Json *score)
{
    static const char *const formulas[] = {
        "others_minus_own", "others", "everybody", "difference", "one", "nothing", NULL};
    static const char *const ties[] = {
        "nobody", "blocker", "fewest_tiles", "lowest_end", "outsider", NULL};
    R.out_wins = says(score, "winner", "out");
    R.points_out = (Formula)one_of(score, "points_out", formulas, OTHERS_MINUS_OWN);
    R.points_blocked = (Formula)one_of(score, "points_blocked", formulas, OTHERS_MINUS_OWN);
    R.tie = (Tie)one_of(score, "tie", ties, NOBODY);
    R.capicu = whole(score, "capicu", 0);
    R.out_with_blank = whole(score, "out_with_blank", 0);
    const Json *bonus = get(score, "bonus");
    R.bonuses = length_of(bonus) < 64 ? length_of(bonus) : 64;
    for (int index = 0; index < R.bonuses; index++)
        R.bonus[index] = entry(bonus, index);
}

static void read_rules(const Json *game)
{
    const Json *rules = get(game, "rules"), *deal = get(rules, "deal"), *turn = get(rules, "turn");
    const Json *stakes = get(rules, "stakes"), *score = get(rules, "score");
    R.seats = whole(game, "seats", 2);
    R.partners = flag(game, "partners", false) && R.seats == 4;
    R.target = whole(game, "target", 100);
    R.rounds = whole(get(rules, "game"), "rounds", 0);
    R.step = says(deal, "direction", "counter_clockwise") ? R.seats - 1 : 1;
    R.two = whole(turn, "tiles", 1) == 2;
    R.at_once = says(turn, "draw_limit", "two_at_once");
    R.limit = R.at_once ? 2 : whole(turn, "draw_limit", 1 << 20); /* "unlimited" is no number */
    R.when_able = flag(turn, "draw_when_able", true);
    R.leader_too = flag(turn, "leader_may_draw", true);
    R.draw_ends = flag(turn, "draw_ends_turn", false);
    R.optional = flag(turn, "draw_optional", false);
    R.reserve = whole(get(rules, "boneyard"), "reserve", 2);
    R.reserve = R.reserve < 0 ? 0 : R.reserve; /* no such rule, but nobody draws from nothing */
    R.fee = whole(stakes, "fee", 0);
    R.pot = flag(stakes, "pot", false);
    static const char *const blocked[] = {"play_on", "at_once", "call", NULL};
    R.blocked = (Blocked)one_of(get(rules, "end"), "blocked", blocked, PLAY_ON);
    R.highest = whole(deal, "highest_pip", 6);
    R.known = R.highest >= 0 && R.highest <= 12 && R.seats >= 2 && R.seats <= MOST_SEATS;
    if (R.known)
        make_tiles(flag(deal, "doubles", true), whole(score, "double_blank", 0));
    read_scoring(score);
}

static int parties(void) { return R.partners ? 2 : R.seats; }

static int party(int seat) { return R.partners ? seat % 2 : seat; }

static int next_seat(int seat) { return (seat + R.step) % R.seats; }

/* ---- a round in which every tile is known ---- */

typedef enum { PLAY, TWO, DRAW, PASS, CALL, GO_ON } What;
typedef enum { LEFT, RIGHT, LEAD } End;
typedef struct {
    uint8_t what, a, b, end; /* tiles: a, or a on the left and b on the right */
} Move;

typedef struct {
    Set hands[MOST_SEATS], line;
    const uint8_t *stock; /* the last one is drawn first */
    int left;             /* tiles in it */
    int ends[2];          /* -1 before the first tile */
    int turn, mover, asked, drawn, passes, out, blocker, last;
    int paid[MOST_SEATS], pot;
    bool fitted_both, over;
} State;

static int drawable(const State *s)
{
    return R.limit == 0 || s->left <= R.reserve ? 0 : s->left - R.reserve;
}

static int other(int tile, int pip) { return R.high[tile] == pip ? R.low[tile] : R.high[tile]; }

static Set fitting(const State *s) { return R.fits[s->ends[0]] | R.fits[s->ends[1]]; }

static int pairs(const State *s, Set hand, Move *found)
{
    int many = 0;
    EACH(a, hand & R.fits[s->ends[0]])
        EACH(b, hand & R.fits[s->ends[1]])
            if (a < b || (a > b && s->ends[0] != s->ends[1]))
                found[many++] = (Move){TWO, (uint8_t)a, (uint8_t)b, LEFT};
    return many;
}

static int plays(const State *s, Set hand, Move *found)
{
    int many = 0;
    if (s->ends[0] < 0) {
        EACH(tile, hand)
            found[many++] = (Move){PLAY, (uint8_t)tile, 0, LEAD};
        return many;
    }
    if (R.two && !(count(hand) == 1 && drawable(s) == 0))
        return pairs(s, hand, found);
    EACH(tile, hand & R.fits[s->ends[0]])
        found[many++] = (Move){PLAY, (uint8_t)tile, 0, LEFT};
    if (s->ends[0] != s->ends[1]) /* equal ends are one place to play */
        EACH(tile, hand & R.fits[s->ends[1]])
            found[many++] = (Move){PLAY, (uint8_t)tile, 0, RIGHT};
    return many;
}

static bool can_play(const State *s, Set hand)
{
    static Move scratch[MOST_MOVES];
    if (s->ends[0] < 0 || !R.two)
        return s->ends[0] < 0 || (hand & fitting(s)) != 0;
    return plays(s, hand, scratch) > 0;
}

static bool may_draw(const State *s, bool able)
{
    if (!drawable(s) || s->drawn >= R.limit)
        return false;
    return !able || (R.when_able && (R.leader_too || s->ends[0] >= 0));
}

/* Of two tiles that are drawn at once the second comes before anything else. */
static bool must_draw(const State *s) { return R.at_once && s->drawn == 1 && drawable(s); }

static int moves(const State *s, Move *found)
{
    if (s->asked) {
        found[0] = (Move){CALL, 0, 0, 0};
        found[1] = (Move){GO_ON, 0, 0, 0};
        return 2;
    }
    int many = must_draw(s) ? 0 : plays(s, s->hands[s->turn], found);
    bool able = many > 0;
    if (may_draw(s, able))
        found[many++] = (Move){DRAW, 0, 0, 0};
    if (many == 0 || (R.optional && !able))
        found[many++] = (Move){PASS, 0, 0, 0};
    return many;
}

static int dead_ends(const State *s)
{
    int dead = 0;
    for (int side = 0; side < 2; side++)
        dead += count(s->line & R.fits[s->ends[side]]) == R.whole;
    return dead;
}

static bool is_blocked(const State *s)
{
    if (s->ends[0] < 0)
        return false;
    if (R.optional && s->passes >= R.seats)
        return true;
    if (R.blocked == AT_ONCE && dead_ends(s) == 2)
        return true;
    if (drawable(s))
        return false;
    for (int seat = 0; seat < R.seats; seat++)
        if (can_play(s, s->hands[seat]))
            return false;
    return true;
}

static void turned(State *s)
{
    s->turn = next_seat(s->turn);
    s->drawn = 0;
    if (s->out >= 0 || is_blocked(s))
        s->over = true;
    else if (R.blocked == CALLED && s->ends[0] >= 0 && dead_ends(s) >= (R.two ? 1 : 2)) {
        s->mover = s->turn;
        s->asked = R.seats;
    }
}

static void put(State *s, int tile, End end)
{
    bool lead = end == LEAD, left = end == LEFT;
    int pip = lead ? -1 : s->ends[!left];
    s->fitted_both = !lead && R.high[tile] != R.low[tile]
                     && (R.fits[s->ends[0]] & R.fits[s->ends[1]] & bit(tile)) != 0;
    if (lead) {
        s->ends[0] = R.high[tile];
        s->ends[1] = R.low[tile];
    } else
        s->ends[!left] = other(tile, pip);
    s->hands[s->turn] &= ~bit(tile);
    s->line |= bit(tile);
    s->passes = 0;
    s->last = tile;
    s->blocker = s->turn;
    if (!s->hands[s->turn])
        s->out = s->turn;
}

static void draw(State *s)
{
    s->hands[s->turn] |= bit(s->stock[--s->left]);
    s->drawn++;
    s->passes = 0;
    s->paid[s->turn] += R.fee;
    if (R.draw_ends)
        turned(s);
    else if (is_blocked(s))
        s->over = true;
}

static void act(State *s, Move move)
{
    switch (move.what) {
    case PLAY:
        put(s, move.a, (End)move.end);
        turned(s);
        break;
    case TWO:
        put(s, move.a, LEFT);
        put(s, move.b, RIGHT);
        turned(s);
        break;
    case DRAW:
        draw(s);
        break;
    case PASS:
        s->passes++;
        turned(s);
        break;
    case CALL:
        s->over = true;
        break;
    default:
        s->turn = --s->asked ? next_seat(s->turn) : s->mover;
    }
}

/* ---- scoring ---- */

static int weight(Set hand)
{
    int pips = 0;
    EACH(tile, hand)
        pips += R.pips[tile];
    return pips;
}

static int only_lowest(unsigned among, const int *values)
{
    int best = -1, times = 0;
    for (int one = 0; one < parties(); one++)
        if (among >> one & 1) {
            if (best < 0 || values[one] < values[best]) {
                best = one;
                times = 0;
            }
            times += values[one] == values[best];
        }
    return times == 1 ? best : -1;
}

/* Who wins a blocked round in which the fewest pips are held twice, or -1. */
static int tie_broken(const State *s, unsigned tied, const int *pips)
{
    int values[MOST_SEATS] = {0};
    for (int seat = 0; seat < R.seats; seat++) {
        int *value = &values[party(seat)];
        if (R.tie == FEWEST_TILES)
            *value += count(s->hands[seat]);
        else
            EACH(tile, s->hands[seat])
                if (R.high[tile] > *value)
                    *value = R.high[tile];
    }
    switch (R.tie) {
    case BLOCKER:
        return s->blocker < 0 ? -1 : party(s->blocker);
    case OUTSIDER:
        return only_lowest(~tied & ((1u << parties()) - 1), pips);
    case FEWEST_TILES:
    case LOWEST_END:
        return only_lowest(tied, values);
    default:
        return -1;
    }
}

static int winner(const State *s, const int *hand_pips)
{
    if (s->out >= 0 && R.out_wins)
        return s->out;
    int pips[MOST_SEATS] = {0}, least = 1 << 30;
    unsigned tied = 0;
    for (int seat = 0; seat < R.seats; seat++)
        pips[party(seat)] += hand_pips[seat];
    for (int one = 0; one < parties(); one++)
        least = pips[one] < least ? pips[one] : least;
    for (int one = 0; one < parties(); one++)
        tied |= (unsigned)(pips[one] == least) << one;
    int won = only_lowest(tied, pips);
    if (won < 0 && s->out < 0)
        won = tie_broken(s, tied, pips);
    if (won < 0 || !R.partners)
        return won;
    if (s->out >= 0 && party(s->out) == won)
        return s->out;
    return hand_pips[won + 2] < hand_pips[won] ? won + 2 : won;
}

static int worth(const State *s, const int *pips, int won)
{
    int total = 0, own = pips[won] + (R.partners ? pips[(won + 2) % 4] : 0);
    for (int seat = 0; seat < R.seats; seat++)
        total += pips[seat];
    int others = total - own;
    switch (s->out < 0 ? R.points_blocked : R.points_out) {
    case OTHERS_MINUS_OWN:
        return others - own;
    case OTHERS:
        return others;
    case EVERYBODY:
        return others + own;
    case DIFFERENCE:
        return others - (parties() - 1) * own;
    case ONE:
        return 1;
    default:
        return 0;
    }
}

/* What the round brings each seat, fees, bonuses and the pot included; `round` counts from 1. */
static void score(const State *s, int round, int *points)
{
    int pips[MOST_SEATS], paid = 0;
    for (int seat = 0; seat < R.seats; seat++) {
        pips[seat] = weight(s->hands[seat]);
        points[seat] = -s->paid[seat];
        paid += s->paid[seat];
    }
    int won = winner(s, pips);
    if (won >= 0) {
        int gain = worth(s, pips, won);
        points[won] += (gain > 0 ? gain : 0) + s->pot + (R.pot ? paid : 0);
        points[won] += round >= 1 && round <= R.bonuses ? R.bonus[round - 1] : 0;
        if (s->out == won)
            points[won] += (s->last == R.blank ? R.out_with_blank : 0)
                           + (s->fitted_both ? R.capicu : 0);
    }
    if (R.partners)
        for (int side = 0; side < 2; side++)
            points[side] = points[side + 2] = points[side] + points[side + 2];
}

/* ---- the policy: what a sensible player does who sees its own hand only ---- */

enum { MOST_X = 256 };
static double decay[MOST_X + 1]; /* exp(-x / 16) */

/* How good a play looks: light hand, doubles gone, the others stuck, the own hand not. */
static double appeal(const State *s, Set hand, Move move)
{
    Set played = bit(move.a) | (move.what == TWO ? bit(move.b) : 0), rest = hand & ~played;
    int a = s->ends[0], b = s->ends[1];
    if (move.end == LEAD) {
        a = R.high[move.a];
        b = R.low[move.a];
    } else if (move.what == TWO) {
        a = other(move.a, a);
        b = other(move.b, b);
    } else if (move.end == LEFT)
        a = other(move.a, a);
    else
        b = other(move.a, b);
    Set unseen = R.all & ~hand & ~s->line, fit = R.fits[a] | R.fits[b];
    int unknown = count(unseen), next = count(s->hands[next_seat(s->turn)]);
    int own = count(rest & fit);
    double density = unknown ? (double)next / unknown : 1.0;
    double value = PIPS * R.pips[move.a] + DOUBLE * (R.high[move.a] == R.low[move.a]);
    if (move.what == TWO) {
        value += PIPS * R.pips[move.b] + DOUBLE * (R.high[move.b] == R.low[move.b]);
        double x = count(unseen & R.fits[a]) * density, y = count(unseen & R.fits[b]) * density;
        bool safe = (rest & R.fits[a]) && (rest & R.fits[b]) && count(rest & fit) > 1;
        return value + 4.0 * (1 - (1 - exp(-x)) * (1 - exp(-y))) + 2.0 * safe + 0.2 * own;
    }
    int x = (int)(count(unseen & fit) * density * 16);
    return value + STUCK * decay[x > MOST_X ? MOST_X : x] + FITS * own + SAFE * (own > 0);
}

static bool is_play(Move move) { return move.what == PLAY || move.what == TWO; }

/* Whether the side to move would win if the round were called now. */
static bool is_lightest(const State *s)
{
    int pips[MOST_SEATS];
    for (int seat = 0; seat < R.seats; seat++)
        pips[seat] = weight(s->hands[seat]);
    int won = winner(s, pips);
    return won >= 0 && party(won) == party(s->turn);
}

static Move policy(const State *s)
{
    static Move found[MOST_MOVES];
    if (s->asked)
        return (Move){is_lightest(s) ? CALL : GO_ON, 0, 0, 0};
    int many = must_draw(s) ? 0 : plays(s, s->hands[s->turn], found);
    if (many == 0)
        return (Move){may_draw(s, false) ? DRAW : PASS, 0, 0, 0};
    int best = 0;
    double most = -1e9;
    for (int index = 0; many > 1 && index < many; index++) {
        double value = appeal(s, s->hands[s->turn], found[index]) + NOISE * fraction();
        if (value > most) {
            most = value;
            best = index;
        }
    }
    return found[best];
}

/* ---- the question ---- */

enum { MOST_TURNS = 2000 };
typedef struct { /* what another seat did, and what was open then */
    int seat, when;
    Move move;
    State table; /* ends, line and sizes of hands; the hands hold the known later tiles only */
} Deed;
typedef struct { /* a place for a tile that this seat does not see */
    int seat;  /* -1: the boneyard */
    int since; /* when it was drawn; 0: dealt */
    Set lacks; /* what cannot be there */
    Set hint;  /* what is likely not there: its seat drew where it need not have */
    int tile;
} Slot;

static struct {
    int seat, round, scores[MOST_SEATS], sizes[MOST_SEATS], many, first_slot;
    Set hand, line, unseen;
    int ends[2], stock, drawn, pot, asked, mover;
    Move options[MOST_MOVES];
    int slots, deeds;
    Slot slot[MOST_TILES * 2];
    Deed deed[MOST_TILES * 2];
    double likely[MOST_SEATS]; /* of each seat's deeds, as a logarithm */
} Q;

static int tile_of(const Json *pair)
{
    int a = entry(pair, 0), b = entry(pair, 1);
    int high = a > b ? a : b, low = a + b - high;
    for (int tile = 0; tile < R.tiles; tile++)
        if (R.high[tile] == high && R.low[tile] == low)
            return tile;
    return -1;
}

static bool read_set(const Json *list, Set *set)
{
    *set = 0;
    for (const Json *one = list ? list->child : NULL; one; one = one->next) {
        int tile = tile_of(one);
        if (tile < 0 || (*set & bit(tile)))
            return false;
        *set |= bit(tile);
    }
    return true;
}

static bool read_option(const Json *option, Move *move)
{
    static const char *const words[] = {"play", "play_two", "draw", "pass", "call", "go_on", NULL};
    static const char *const ends[] = {"left", "right", "lead", NULL};
    int what = one_of(option, "do", words, -1), a = 0, b = 0;
    if (what == PLAY)
        a = tile_of(get(option, "tile"));
    if (what == TWO) {
        a = tile_of(get(option, "left"));
        b = tile_of(get(option, "right"));
    }
    if (what < 0 || a < 0 || b < 0)
        return false;
    *move = (Move){(uint8_t)what, (uint8_t)a, (uint8_t)b, (uint8_t)one_of(option, "end", ends, 0)};
    return true;
}

static bool read_ends(const Json *ends)
{
    Q.ends[0] = Q.ends[1] = -1;
    for (int side = 0; side < 2 && length_of(ends) == 2; side++) {
        Q.ends[side] = entry(ends, side);
        if (Q.ends[side] < 0 || Q.ends[side] > R.highest)
            return false;
    }
    return true;
}

static bool lies_on(int tile, int side)
{
    return Q.ends[0] >= 0 && (Q.hand & R.fits[Q.ends[side]] & bit(tile)) != 0;
}

/* Whether the simulator can make this move here: it looks at nothing twice that was read once. */
static bool makes_sense(Move move)
{
    switch (move.what) {
    case PLAY:
        if (move.end == LEAD)
            return Q.ends[0] < 0 && (Q.hand & bit(move.a)) != 0;
        return lies_on(move.a, move.end == RIGHT);
    case TWO:
        return move.a != move.b && lies_on(move.a, 0) && lies_on(move.b, 1);
    case DRAW:
        return Q.stock > 0;
    case PASS:
        return true;
    default:
        return Q.options[0].what == CALL;
    }
}

static bool read_options(const Json *options)
{
    Q.many = 0;
    for (const Json *one = options ? options->child : NULL; one; one = one->next) {
        Move *move = &Q.options[Q.many];
        if (Q.many++ >= MOST_MOVES || !read_option(one, move) || !makes_sense(*move))
            return false;
    }
    return Q.many > 0;
}

/* False where the question does not add up or offers what the simulator does not know. */
static bool read_question(const Json *ask)
{
    int others = 0;
    Q.seat = whole(ask, "seat", 0);
    Q.round = whole(ask, "round", 1);
    Q.pot = whole(ask, "pot", 0);
    Q.stock = whole(get(ask, "boneyard"), "tiles", 0);
    if (!R.known || length_of(get(ask, "hands")) != R.seats || Q.seat < 0 || Q.seat >= R.seats)
        return false;
    for (int seat = 0; seat < R.seats; seat++) {
        Q.scores[seat] = entry(get(ask, "scores"), seat);
        Q.sizes[seat] = entry(get(ask, "hands"), seat);
        others += seat == Q.seat ? 0 : Q.sizes[seat];
    }
    if (!read_set(get(ask, "hand"), &Q.hand) || !read_set(get(ask, "line"), &Q.line))
        return false;
    Q.unseen = R.all & ~Q.hand & ~Q.line;
    if (count(Q.unseen) != others + Q.stock || count(Q.hand) != Q.sizes[Q.seat])
        return false;
    return !(Q.hand & Q.line) && read_ends(get(ask, "ends")) && read_options(get(ask, "options"));
}

/* ---- WORLDS: what the events say about the hidden tiles ---- */

static void add_slot(int seat, int since)
{
    if (Q.slots < MOST_TILES * 2)
        Q.slot[Q.slots++] = (Slot){seat, since, 0, 0, -1};
}

/* The seat did not play on these ends: it had nothing for them, or drew though it had. */
static void could_not(int seat, Set fit, bool sure)
{
    for (int one = 0; one < Q.slots; one++)
        if (Q.slot[one].seat == seat && Q.slot[one].tile < 0) {
            Q.slot[one].hint |= fit;
            Q.slot[one].lacks |= sure ? fit : 0;
        }
}

/* The tile that was played lay in the first slot that may have held it, and likely did. */
static void reveal(int seat, int tile)
{
    int found = -1, best = -1;
    for (int one = 0; one < Q.slots; one++) {
        const Slot *slot = &Q.slot[one];
        if (slot->seat != seat || slot->tile >= 0)
            continue;
        int trust = !(slot->lacks & bit(tile)) + !(slot->hint & bit(tile));
        if (trust > best) {
            best = trust;
            found = one;
        }
    }
    if (found >= 0)
        Q.slot[found].tile = tile;
}

static void note_deed(int seat, int when, Move move, State *table, const int *sizes)
{
    if (seat == Q.seat || Q.deeds >= MOST_TILES * 2)
        return;
    for (int one = 0; one < R.seats; one++) { /* any tiles: only their number is looked at */
        bool whole = sizes[one] < 0 || sizes[one] >= R.tiles;
        table->hands[one] = whole ? R.all : bit(sizes[one]) - 1;
    }
    table->turn = seat;
    table->left = move.what == TWO || move.what == DRAW ? R.tiles : 0;
    Q.deed[Q.deeds++] = (Deed){seat, when, move, *table};
}

/* A tile is played: by its slot, on the table, and as a deed (a pair is one deed). */
static void see_play(State *table, const Json *event, int when, int *sizes)
{
    static const char *const ends[] = {"left", "right", "lead", NULL};
    int seat = whole(event, "seat", 0), tile = tile_of(get(event, "tile"));
    End end = (End)one_of(event, "end", ends, LEFT);
    Deed *last = Q.deeds ? &Q.deed[Q.deeds - 1] : NULL;
    if (tile < 0)
        return;
    if (table->ends[0] < 0)
        end = LEAD;
    if (R.two && last && last->when == when - 1 && last->seat == seat && end == RIGHT
        && last->move.what == PLAY && last->move.end == LEFT) {
        last->move = (Move){TWO, last->move.a, (uint8_t)tile, LEFT};
        last->table.left = R.tiles;
    } else
        note_deed(seat, when, (Move){PLAY, (uint8_t)tile, 0, (uint8_t)end}, table, sizes);
    if (seat != Q.seat && (Q.line & bit(tile)))
        reveal(seat, tile);
    const Json *lies = get(event, "tile");
    if (end != RIGHT)
        table->ends[0] = entry(lies, 0);
    if (end != LEFT)
        table->ends[1] = entry(lies, 1);
    table->line |= bit(tile);
    sizes[seat]--;
}

static void see(State *table, const Json *event, int when, int *sizes)
{
    int seat = whole(event, "seat", 0);
    bool drew = says(event, "do", "draw"), passed = says(event, "do", "pass");
    if (seat < 0 || seat >= R.seats)
        return;
    if (says(event, "do", "bid"))
        table->asked = 1; /* what is drawn next was bought */
    else if (!drew)
        table->asked = 0;
    bool second = R.at_once && drew && table->drawn == 1 + seat; /* says nothing: one may fit */
    table->drawn = drew && !second ? 1 + seat : 0;
    if (drew || passed) {
        if (table->ends[0] >= 0 && !table->asked && !second) {
            note_deed(seat, when, (Move){drew ? DRAW : PASS, 0, 0, 0}, table, sizes);
            if (!R.two)
                could_not(seat, fitting(table), passed || !R.when_able);
        }
        if (drew && seat != Q.seat)
            add_slot(seat, when);
        sizes[seat] += drew;
    } else if (says(event, "do", "play"))
        see_play(table, event, when, sizes);
    else if (says(event, "do", "turn_up") && tile_of(get(event, "tile")) >= 0) {
        table->ends[0] = entry(get(event, "tile"), 0);
        table->ends[1] = entry(get(event, "tile"), 1);
        table->line |= bit(tile_of(get(event, "tile")));
    }
}

/* The first event that counts: behind the last deal that was annulled. */
static const Json *first_event(const Json *events)
{
    const Json *first = events ? events->child : NULL;
    for (const Json *one = first; one; one = one->next)
        if (says(one, "do", "annul"))
            first = one->next;
    return first;
}

static void read_events(const Json *events)
{
    const Json *first = first_event(events);
    int sizes[MOST_SEATS];
    memcpy(sizes, Q.sizes, sizeof sizes);
    for (const Json *one = first; one; one = one->next) { /* back to what was dealt */
        int seat = whole(one, "seat", 0);
        if (seat >= 0 && seat < R.seats)
            sizes[seat] += says(one, "do", "play") - says(one, "do", "draw");
    }
    Q.slots = Q.deeds = 0;
    for (int seat = 0; seat < R.seats; seat++)
        for (int tile = 0; seat != Q.seat && tile < sizes[seat]; tile++)
            add_slot(seat, 0);
    State table = {.ends = {-1, -1}};
    int when = 1;
    for (const Json *one = first; one; one = one->next, when++)
        see(&table, one, when, sizes);
    for (int tile = 0; tile < Q.stock; tile++)
        add_slot(-1, 0);
}

/* What the rules leave open of the moment: tiles drawn in this turn, and who may call. */
static void read_moment(const Json *events)
{
    int last = Q.seat;
    Q.drawn = Q.asked = 0;
    for (const Json *one = first_event(events); one; one = one->next) {
        bool mine = whole(one, "seat", -1) == Q.seat;
        Q.drawn = says(one, "do", "draw") && mine ? Q.drawn + 1 : 0;
        if (says(one, "do", "play") || says(one, "do", "draw") || says(one, "do", "pass"))
            last = whole(one, "seat", 0);
        if (last < 0 || last >= R.seats)
            last = Q.seat;
    }
    if (R.draw_ends)
        Q.drawn = 0;
    if (Q.options[0].what == CALL) {
        Q.mover = next_seat(last);
        Q.asked = R.seats;
        for (int seat = Q.mover; seat != Q.seat; seat = next_seat(seat))
            Q.asked--;
    }
}

/* The hand that a seat had at a deed, in this world. */
static Set hand_then(const Deed *deed)
{
    Set hand = 0;
    for (int one = 0; one < Q.slots; one++) {
        const Slot *slot = &Q.slot[one];
        if (slot->seat == deed->seat && slot->since < deed->when && slot->tile >= 0
            && !(deed->table.line & bit(slot->tile)))
            hand |= bit(slot->tile);
    }
    return hand;
}

/* The logarithm of how likely a seat with this hand does that. */
static double explains(const Deed *deed, Set hand)
{
    static Move found[MOST_MOVES];
    static double values[MOST_MOVES];
    const State *table = &deed->table;
    if (!is_play(deed->move))
        return can_play(table, hand) ? (deed->move.what == DRAW && R.when_able ? -2 : -12) : 0;
    int many = plays(table, hand, found);
    double most = -1e9, own = -1e9, total = 0;
    for (int index = 0; index < many; index++) {
        const Move *move = &found[index];
        values[index] = appeal(table, hand, *move) / COOL;
        most = values[index] > most ? values[index] : most;
        if (move->a == deed->move.a && move->b == deed->move.b && move->end == deed->move.end)
            own = values[index];
    }
    if (own < -1e8)
        return 0;
    for (int index = 0; index < many; index++)
        total += exp(values[index] - most);
    return log(STRAY / many + (1 - STRAY) * exp(own - most) / total);
}

static double likelihood(int seat)
{
    double sum = 0;
    for (int one = 0; one < Q.deeds; one++)
        if (Q.deed[one].seat == seat)
            sum += explains(&Q.deed[one], hand_then(&Q.deed[one]));
    return sum;
}

/* A first world: the slots that admit least are filled first. */
static bool fill(bool trusting)
{
    uint8_t tiles[MOST_TILES];
    int many = 0;
    EACH(tile, Q.unseen)
        tiles[many++] = (uint8_t)tile;
    for (int last = many - 1; last > 0; last--) {
        int chosen = below(last + 1);
        uint8_t swapped = tiles[last];
        tiles[last] = tiles[chosen];
        tiles[chosen] = swapped;
    }
    bool open[MOST_TILES * 2];
    for (int one = 0; one < Q.slots; one++)
        open[one] = Q.slot[one].tile < 0;
    for (int round = 0; many > 0; round++) {
        int strict = -1;
        for (int one = 0; one < Q.slots; one++)
            if (open[one]
                && (strict < 0 || count(Q.slot[one].lacks) > count(Q.slot[strict].lacks)))
                strict = one;
        int chosen = many - 1;
        while (strict >= 0 && trusting && chosen >= 0
               && (Q.slot[strict].lacks & bit(tiles[chosen])))
            chosen--;
        if (strict < 0 || chosen < 0) {
            for (int one = 0; one < Q.slots; one++)
                if (Q.slot[one].tile >= 0 && (Q.unseen & bit(Q.slot[one].tile)))
                    Q.slot[one].tile = -1;
            return false;
        }
        Q.slot[strict].tile = tiles[chosen];
        open[strict] = false;
        tiles[chosen] = tiles[--many];
    }
    return true;
}

static bool hidden_slot(const Slot *slot)
{
    return slot->tile >= 0 && (Q.unseen & bit(slot->tile));
}

/* One step of the walk: swap two hidden tiles, and take it back if the old world was likelier. */
static void swap_two(void)
{
    Slot *one = &Q.slot[below(Q.slots)], *two = &Q.slot[below(Q.slots)];
    if (!hidden_slot(one) || !hidden_slot(two) || one->seat < 0)
        return;
    if (one->seat == two->seat && one->since == two->since)
        return;
    if ((one->lacks & bit(two->tile)) || (two->lacks & bit(one->tile)))
        return;
    int first = one->tile, second = two->tile, a = one->seat, b = two->seat;
    double before = Q.likely[a] + (b >= 0 && b != a ? Q.likely[b] : 0);
    one->tile = second;
    two->tile = first;
    double new_a = likelihood(a), new_b = b >= 0 && b != a ? likelihood(b) : 0;
    if (new_a + new_b >= before || fraction() < exp(new_a + new_b - before)) {
        Q.likely[a] = new_a;
        if (b >= 0 && b != a)
            Q.likely[b] = new_b;
    } else {
        one->tile = first;
        two->tile = second;
    }
}

/* False where there are not as many places as hidden tiles: the events do not add up. */
static bool begin_walk(void)
{
    bool filled = false;
    int places = 0;
    for (int one = 0; one < Q.slots; one++)
        places += Q.slot[one].tile < 0;
    if (places != count(Q.unseen))
        return false;
    for (int attempt = 0; attempt < 20 && !filled; attempt++)
        filled = fill(true);
    if (!filled) {
        for (int one = 0; one < Q.slots; one++)
            Q.slot[one].lacks = 0;
        fill(false);
    }
    for (int seat = 0; seat < R.seats; seat++)
        Q.likely[seat] = likelihood(seat);
    for (int step = 0; step < 20 * SWAPS; step++)
        swap_two();
    return true;
}

/* The round as it stands in this world, with a freshly shuffled boneyard. */
static State world(uint8_t *stock)
{
    State s = {.line = Q.line, .stock = stock, .ends = {Q.ends[0], Q.ends[1]}, .turn = Q.seat,
               .mover = Q.mover, .asked = Q.asked, .drawn = Q.drawn, .out = -1, .blocker = -1,
               .last = -1, .pot = Q.pot};
    s.hands[Q.seat] = Q.hand;
    for (int one = 0; one < Q.slots; one++) {
        const Slot *slot = &Q.slot[one];
        if (!hidden_slot(slot))
            continue;
        if (slot->seat >= 0)
            s.hands[slot->seat] |= bit(slot->tile);
        else {
            int place = below(s.left + 1);
            stock[s.left++] = stock[place];
            stock[place] = (uint8_t)slot->tile;
        }
    }
    return s;
}

/* ---- VALUE ---- */

/* How likely a lead wins the game, by a normal walk of rounds with margins of about `unit`. */
static double chance(double lead, double to_go)
{
    double unit = R.points_out == ONE ? 1 : R.partners && R.points_out == OTHERS ? 30 : 18;
    double rounds = R.rounds ? R.rounds - Q.round : to_go / (unit * 0.7);
    return 1 / (1 + exp(-lead / (0.6 * unit * sqrt((rounds > 0 ? rounds : 0) + 0.5))));
}

/* For each party: how likely it wins the game after a round that brings these points. */
static void values(const int *points, double *value)
{
    int after[MOST_SEATS], best = -(1 << 30), times = 0;
    for (int one = 0; one < parties(); one++) {
        after[one] = Q.scores[one] + points[one];
        if (after[one] > best)
            times = 0;
        best = after[one] > best ? after[one] : best;
        times += after[one] == best;
    }
    bool over = R.rounds ? Q.round >= R.rounds : best >= R.target && times == 1;
    for (int one = 0; one < parties(); one++) {
        value[one] = 0;
        for (int two = 0; two < parties(); two++)
            if (one != two) {
                int lead = after[one] - after[two];
                double won = (lead > 0) + 0.5 * (lead == 0);
                if (!over)
                    won = chance(lead, R.target - best);
                value[one] += won / (parties() - 1);
            }
    }
}

/* ---- SOLVER: perfect play when every tile is known and none is drawn ---- */

static long solved_nodes, most_solved;

static int margin(const State *s)
{
    int points[MOST_SEATS];
    score(s, Q.round, points);
    return points[0] - points[1];
}

static bool solvable(const State *s) { return parties() == 2 && drawable(s) == 0; }

/* The points of party 0 less those of party 1 if both play perfectly; wrong once too many
 * positions were looked at, which the caller sees in `solved_nodes`. */
static int solve(const State *s, int low, int high)
{
    if (s->over)
        return margin(s);
    if (++solved_nodes > most_solved)
        return 0;
    Move found[256]; /* pairs of at most 13 and 13 tiles */
    int many = moves(s, found);
    for (int index = many - 1; index >= 0 && low < high; index--) {
        State after = *s;
        act(&after, found[index]);
        int value = solve(&after, low, high);
        if (party(s->turn) == 0)
            low = value > low ? value : low;
        else
            high = value < high ? value : high;
    }
    return party(s->turn) == 0 ? low : high;
}

/* What perfect play from here brings; false where that is not to be had at this price. */
static bool solve_out(const State *s, int *points)
{
    int total = 0;
    for (int seat = 0; seat < R.seats; seat++)
        total += count(s->hands[seat]);
    if (total > SOLVE_TILES || !solvable(s))
        return false;
    solved_nodes = 0;
    most_solved = SOLVE_NODES;
    int value = solve(s, -(1 << 29), 1 << 29);
    points[0] = value > 0 ? value : 0;
    points[1] = value < 0 ? -value : 0;
    return solved_nodes <= most_solved;
}

/* ---- SEARCH ---- */

enum { MOST_NODES = 200000, MOST_DEPTH = 64 };
typedef struct {
    Move move;
    uint8_t drew;       /* behind our own draw a node for each tile, for we see it; else 0 */
    uint8_t by;         /* the party that made the move */
    int child, sibling; /* 0: none */
    int visits, open;   /* open: simulations in which it could have been chosen */
    double total;       /* of the values for that party */
} Node;

static Node tree[MOST_NODES];
static int tree_size;

static uint8_t own_draw(const State *s, Move move)
{
    return move.what == DRAW && s->turn == Q.seat ? (uint8_t)(1 + s->stock[s->left - 1]) : 0;
}

static int find_child(int parent, Move move, uint8_t drew)
{
    for (int one = tree[parent].child; one; one = tree[one].sibling)
        if (memcmp(&tree[one].move, &move, sizeof move) == 0 && tree[one].drew == drew)
            return one;
    return 0;
}

static int add_child(int parent, Move move, uint8_t drew, int by)
{
    if (tree_size >= MOST_NODES)
        return 0;
    tree[tree_size] = (Node){.move = move, .drew = drew, .by = (uint8_t)by, .sibling = tree[parent].child};
    return tree[parent].child = tree_size++;
}

/* How much the policy likes each move, as shares of 1; a draw as much as a middling play. */
static void priors(const State *s, const Move *found, int many, double *prior)
{
    double most = -1e9, total = 0;
    int playable = 0;
    for (int index = 0; index < many && is_play(found[index]); index++, playable++) {
        prior[index] = appeal(s, s->hands[s->turn], found[index]) / COOL;
        most = prior[index] > most ? prior[index] : most;
    }
    for (int index = 0; index < playable; index++)
        total += prior[index] = exp(prior[index] - most) + 0.05;
    double middling = playable ? total / playable : 1;
    for (int index = playable; index < many; index++)
        total += prior[index] = middling;
    for (int index = 0; index < many; index++)
        prior[index] /= total;
}

/* What a move that was never tried may be worth: as much as the position. */
static double first_guess(int node, int mover)
{
    double mean = tree[node].visits ? tree[node].total / tree[node].visits : 0.5;
    if (tree[node].by == mover)
        return mean;
    return parties() == 2 ? 1 - mean : 0.5;
}

/* Chooses a move of this world: the mean so far, and more trust in the policy while it is new. */
static int select_move(const State *s, int parent, const Move *found, int many)
{
    static double prior[MOST_MOVES];
    int best = 0;
    double most = -1e9, guess = first_guess(parent, party(s->turn));
    priors(s, found, many, prior);
    for (int index = 0; index < many; index++) {
        int child = find_child(parent, found[index], 0);
        int visits = child ? tree[child].visits : 0, open = child ? ++tree[child].open : 1;
        double mean = visits ? tree[child].total / visits : guess;
        double value = mean + EXPLORE * prior[index] * many * sqrt(open) / (1 + visits);
        if (value > most) {
            most = value;
            best = index;
        }
    }
    return best;
}

static void simulate(State *s)
{
    static Move found[MOST_MOVES];
    int path[2 * MOST_DEPTH + 2] = {0}, depth = 1, node = 0, points[MOST_SEATS];
    bool inside = true, exact = false;
    for (int turn = 0; turn < MOST_TURNS && !s->over; turn++) {
        if (!inside) {
            exact = solve_out(s, points);
            if (exact)
                break;
            act(s, policy(s));
            continue;
        }
        int many = 0;
        if (turn == 0)
            memcpy(found, Q.options, sizeof *found * (size_t)(many = Q.many));
        else
            many = moves(s, found);
        Move move = found[many > 1 ? select_move(s, node, found, many) : 0];
        uint8_t drew = own_draw(s, move);
        for (int key = 0; inside && key <= drew; key += drew ? drew : 1) {
            int child = find_child(node, move, (uint8_t)key);
            if (!child) {
                child = add_child(node, move, (uint8_t)key, party(s->turn));
                inside = false;
            }
            inside = inside && depth < 2 * MOST_DEPTH;
            if (child)
                path[depth++] = child;
            node = child;
        }
        act(s, move);
    }
    double value[MOST_SEATS];
    if (!exact)
        score(s, Q.round, points);
    values(points, value);
    for (int one = 0; one < depth; one++) {
        tree[path[one]].visits++;
        tree[path[one]].total += value[tree[path[one]].by];
    }
}

static char log_field[96]; /* how the choice was made: a note or numbers, for the game's log */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Where all is known: the best option by the solver, or -1 if that would take too long. */
static int solved(double until)
{
    uint8_t stock[MOST_TILES];
    State s = world(stock);
    int best = -1, sign = party(s.turn) == 0 ? 1 : -1, most = -(1 << 29);
    if (Q.stock || R.seats != 2)
        return -1;
    solved_nodes = 0;
    most_solved = (long)fmin(400000, (until - now_ms()) * NODES_A_MS);
    for (int index = 0; index < Q.many; index++) {
        State after = s;
        act(&after, Q.options[index]);
        int value = sign * (sign > 0 ? solve(&after, most, 1 << 29)
                                     : solve(&after, -(1 << 29), -most));
        if (value > most) {
            most = value;
            best = index;
        }
    }
    return solved_nodes > most_solved ? -1 : best;
}

static int search(double until)
{
    uint8_t stock[MOST_TILES];
    tree_size = 1;
    tree[0] = (Node){.by = (uint8_t)party(Q.seat)};
    for (int count = 0; count < simulations; count++) {
        for (int swap = 0; swap < SWAPS; swap++)
            swap_two();
        State s = world(stock);
        simulate(&s);
        if (count % 16 == 15 && now_ms() > until) /* a look at the clock is dear to a sealed bot */
            break;
    }
    int best = 0, visits[MOST_MOVES] = {0};
    for (int index = 0; index < Q.many; index++) {
        int child = find_child(0, Q.options[index], 0);
        visits[index] = child ? tree[child].visits : 0;
        best = visits[index] > visits[best] ? index : best;
    }
    sprintf(log_field, "\"info\":{\"simulations\":%d,\"value\":%.3f}", tree[0].visits,
            tree[0].total / (tree[0].visits ? tree[0].visits : 1));
    return best;
}

/* ---- talking ---- */

/* Where nothing can be searched: the heaviest play; refuse a hand of doubles; else the first. */
static int by_thumb(const Json *options)
{
    int best = 0, most = -1, index = 0;
    for (const Json *one = options ? options->child : NULL; one; one = one->next, index++) {
        const Json *tile = get(one, "tile");
        int pips = says(one, "do", "play") ? entry(tile, 0) + entry(tile, 1) : -1;
        if (says(one, "do", "refuse"))
            return index;
        if (pips > most) {
            most = pips;
            best = index;
        }
    }
    return best;
}

static uint64_t hash(const char *text, uint64_t h)
{
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

static int choose(const Json *ask)
{
    strcpy(log_field, "\"note\":\"by thumb\"");
    double until = now_ms() + SHARE * (double)number(ask, "time_ms", 1000);
    const char *events = strstr(line, "\"events\":");
    dice_state = hash(events ? events : line, 0xcbf29ce484222325u);
    if (!read_question(ask))
        return by_thumb(get(ask, "options"));
    strcpy(log_field, "\"note\":\"only one\"");
    if (Q.many == 1)
        return 0;
    read_events(get(ask, "events"));
    read_moment(get(ask, "events"));
    if (!begin_walk())
        return by_thumb(get(ask, "options"));
    strcpy(log_field, "\"note\":\"solved\"");
    int exact = solved(until);
    return exact >= 0 ? exact : search(until);
}

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

static void replay(const Json *round);

int main(int argc, char **argv)
{
    bool replays = argc == 2 && strcmp(argv[1], "--replay") == 0;
    if (argc == 3 && strcmp(argv[1], "--simulations") == 0)
        simulations = atoi(argv[2]);
    for (int x = 0; x <= MOST_X; x++)
        decay[x] = exp(-x / 16.0);
    while (read_line()) {
        used_nodes = 0;
        at = line;
        const Json *message = read_value(0);
        if (says(message, "type", "hello"))
            puts("{\"type\":\"hello\",\"name\":\"ismcts\",\"version\":\"1\"}");
        else if (says(message, "type", "game"))
            read_rules(message);
        else if (says(message, "type", "ask")) {
            int choice = choose(message);
            printf("{\"type\":\"choose\",\"id\":%lld,\"choice\":%d,%s}\n",
                   number(message, "id", 0), choice, log_field);
        }
        else if (replays && says(message, "type", "replay"))
            replay(message);
        else if (says(message, "type", "bye"))
            break;
        fflush(stdout); /* a pipe is not a terminal: without this the answer stays here */
    }
    return 0;
}

/* For tests (--replay): plays a known round after a script and prints how many moves there were
 * each time, and the points at the end. */
static void replay(const Json *round)
{
    static Move found[MOST_MOVES];
    uint8_t stock[MOST_TILES];
    State s = {.stock = stock, .ends = {-1, -1}, .turn = whole(round, "turn", 0),
               .out = -1, .blocker = -1, .last = -1, .pot = whole(round, "pot", 0)};
    int seat = 0, points[MOST_SEATS] = {0};
    for (const Json *hand = get(round, "hands")->child; hand; hand = hand->next)
        read_set(hand, &s.hands[seat++]);
    for (const Json *tile = get(round, "stock")->child; tile; tile = tile->next)
        stock[s.left++] = (uint8_t)tile_of(tile);
    read_set(get(round, "line"), &s.line);
    if (length_of(get(round, "ends")) == 2)
        for (int side = 0; side < 2; side++)
            s.ends[side] = entry(get(round, "ends"), side);
    printf("{\"moves\":[");
    for (const Json *one = get(round, "moves")->child; one; one = one->next) {
        Move move;
        printf("%s[%d,%d]", one == get(round, "moves")->child ? "" : ",", s.turn,
               moves(&s, found));
        if (s.over || !read_option(one, &move))
            break;
        act(&s, move);
    }
    score(&s, whole(round, "round", 1), points);
    printf("],\"over\":%s,\"points\":[", s.over ? "true" : "false");
    for (seat = 0; seat < R.seats; seat++)
        printf("%s%d", seat ? "," : "", points[seat]);
    puts("]}");
}
