// The rules of play a second time, beside `arena.engine`: thousands of rounds, each on its own.
//
// `batch.py` copies rounds into `rounds`, calls one of the functions at the end, and copies back what
// came of it. A test holds each of them equal to the engine. Tiles are numbers in the plain player's
// order, its favourite first: of a mask it plays the lowest bit. All is whole numbers, so that every
// machine finds the same.
//
// Arrays of numpy, each turn dozens of passes over all rounds, took 3.2 times as long for the playouts
// of luck (35,000 to 54,000 rounds), 3.5 times for those of reviews (3,000 to 30,000) and 8 to 18
// times for 1,000 rounds; for 100,000 of plain players they took as long. SIMD makes this slower: the
// compiler only finds it in short loops. Native code would take nine tenths of the time.
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define LOWEST(mask) __builtin_ctzll(mask)
#define COUNT(mask) __builtin_popcountll(mask)
#define SEVERAL(mask) (((mask) & ((mask) - 1)) != 0)

// Numbers here, and the order of these kinds and choices, are those of batch.py and policy.py.
enum { SEATS = 8, TILES = 61, NUMBERS = 16, ROWS = 4, PART = 2048, MOST_PLAYS = 128, NOISES = 1 << 14 };
enum { LEFT_END, RIGHT_END, HIGHER };
enum { PLAY, DRAW, ANSWER };
enum { CAPICU = 1, BLANK = 2 };
enum { NOBODY, BLOCKER, FEWEST_TILES, LOWEST_END, OUTSIDER };
enum { OTHERS_MINUS_OWN, OTHERS, EVERYBODY, DIFFERENCE, ONE };
enum { A_TURN = 7919, END_STEP = 331, TILE_STEP = 613, SECOND_STEP = 1361 };

typedef uint64_t Mask;

// The fields of `RULES_STRUCT` in batch.py, in its order.
static struct {
    Mask all, doubles, blank, suits[NUMBERS];
    int32_t seats, numbers, tiles, rows, last_place, stride, is_simple;
    int32_t two_tiles, two_at_once, draw_limit, draw_when_able, leader_may_draw;
    int32_t draw_ends_turn, draw_optional;
    int32_t dead_ends_to_end, dead_ends_to_call, step, partners, fee, chips, pot, ante, starter;
    int32_t must_lead, highest_leads, draws_for_double;
    int32_t winner_out, tie, points_out, points_blocked, capicu, out_with_blank;
    int32_t after[SEATS], own_row[SEATS], from_back[SEATS], side[SEATS];
    int32_t pips[TILES];
    int8_t pairs[TILES][2];
} rules;

// What changes in nearly every turn: playouts work on a copy, which the compiler keeps in registers.
typedef struct {
    Mask line, must;
    int32_t bonus, pot;
    int8_t front[ROWS], back[ROWS], left, right, turn, ask_count, drawn, passes;
    int8_t last_seat, last_tile, drawable, is_over, credited;
} State;

// The fields of a round in batch.py; then come the order of its boneyard and that of its hands.
// Rounds lie whole, one after the other: each is played to its end before the next is looked at.
typedef struct {
    Mask hands[SEATS];
    int32_t points[SEATS];
    State state;
} Round;

typedef struct {
    int32_t fits, safe, both, kinds, blocks, left, place, is_stuck, shed[TILES];
} Policy;

typedef struct {
    int32_t row, worth;
    int8_t first, end, second, spare;
} Option;

static _Alignas(8) uint8_t rounds[PART * (sizeof(Round) + 2 * 64)];
static Policy policies[SEATS];
static int32_t stuck[SEATS][(TILES + 1) * (TILES + 1) * (TILES + 1)], noises[NOISES];
static int64_t seeds[PART];
static int32_t gains[PART][SEATS];
static struct { int8_t kind, first, end, second; } moves[PART];
static struct { Mask plays[3]; int64_t draws, passes; } choices[PART];
static Option options[PART * MOST_PLAYS];
static int32_t byte_pips[8][256];

INLINE Round *round_at(int row) { return (Round *)(rounds + row * rules.stride); }
INLINE int8_t *stock_of(Round *r) { return (int8_t *)(r + 1); }
INLINE int8_t *order_of(Round *r) { return stock_of(r) + rules.tiles; }
INLINE Mask suit(int number) { return rules.suits[number]; }
INLINE Mask bit(int tile) { return (Mask)1 << tile; }
INLINE int has(int tile, int number) { return suit(number) >> tile & 1; }
INLINE int other(int tile, int number) { return rules.pairs[tile][0] + rules.pairs[tile][1] - number; }

INLINE Mask fitting(const State *s) {
    return s->left < 0 ? (s->must ? s->must : rules.all) : suit(s->left) | suit(s->right);
}

// Whether a hand has two tiles for a turn, one for each end. Nothing is led where a turn plays two.
INLINE int can_play_two(Mask hand, int left, int right) {
    Mask a = hand & suit(left), b = hand & suit(right);
    return a && b && SEVERAL(a | b);
}

static int count_pips(Mask hand) {
    int pips = 0;
    for (int part = 0; hand; part++, hand >>= 8) pips += byte_pips[part][hand & 255];
    return pips;
}

// Return the only side with the lowest value of these sides; -1 if several have it.
static int lowest_of(int sides, const int *values, int among) {
    int least = INT32_MAX, holder = -1;
    for (int side = 0; side < sides; side++)
        if (among >> side & 1) {
            if (values[side] == least) holder = -1;
            if (values[side] < least) least = values[side], holder = side;
        }
    return holder;
}

static int count_sides(void) { return rules.partners ? 2 : rules.seats; }

static int sum_pips(const Round *r, int *sums) {
    int total = 0, sides = count_sides();
    for (int side = 0; side < sides; side++) sums[side] = 0;
    for (int seat = 0; seat < rules.seats; seat++) {
        int pips = count_pips(r->hands[seat]);
        sums[seat % sides] += pips, total += pips;
    }
    return total;
}

// --- the end of a round ---

// Return the winner of a tied blocked round (C.37).
static int break_tie(const Round *r, const State *s, const int *pips, int sides) {
    int least = INT32_MAX, tied = 0, values[SEATS] = {0};
    for (int side = 0; side < sides; side++)
        if (pips[side] < least) least = pips[side];
    for (int side = 0; side < sides; side++) tied |= (pips[side] == least) << side;
    switch (rules.tie) {
    case BLOCKER: return s->last_seat < 0 ? -1 : s->last_seat % sides;
    case FEWEST_TILES:
        for (int seat = 0; seat < rules.seats; seat++) values[seat % sides] += COUNT(r->hands[seat]);
        return lowest_of(sides, values, tied);
    case LOWEST_END:
        for (int seat = 0; seat < rules.seats; seat++)
            for (int number = 0; number < rules.numbers; number++)
                if (r->hands[seat] & suit(number) && values[seat % sides] < number)
                    values[seat % sides] = number;
        return lowest_of(sides, values, tied);
    case OUTSIDER: return lowest_of(sides, pips, ~tied);
    default: return -1;
    }
}

static int points_by(int formula, int own, int others, int losers) {
    switch (formula) {
    case OTHERS_MINUS_OWN: return others - own;
    case OTHERS: return others;
    case EVERYBODY: return others + own;
    case DIFFERENCE: return others - losers * own;
    default: return formula == ONE;
    }
}

// Write what each seat gains by the end of a round, the pot included.
static void score(const Round *r, const State *s, int32_t *gain) {
    int pips[SEATS], sides = count_sides(), total = sum_pips(r, pips), out = -1, empty = 0;
    for (int seat = 0; seat < rules.seats; seat++) {
        gain[seat] = 0;
        if (!r->hands[seat]) out = seat, empty++;
    }
    if (empty != 1) out = -1;
    int won = lowest_of(sides, pips, -1);
    if (won < 0 && out < 0) won = break_tie(r, s, pips, sides);
    if (out >= 0 && rules.winner_out) won = out % sides;
    if (won < 0) return;
    int formula = out >= 0 ? rules.points_out : rules.points_blocked;
    int points = points_by(formula, pips[won], total - pips[won], sides - 1);
    int worth = (points > 0 ? points : 0) + s->bonus + s->pot;
    if (out >= 0 && out % sides == won)
        worth += rules.capicu * !!(s->last_tile & CAPICU) + rules.out_with_blank * !!(s->last_tile & BLANK);
    for (int seat = won; seat < rules.seats; seat += sides) gain[seat] = worth;
}

// Whether one of the seats still to be asked calls the round blocked: the lightest hand does.
static int is_called(const Round *r, const State *s) {
    int pips[SEATS], sides = count_sides(), seats = rules.seats;
    if (!s->ask_count) return 0;
    sum_pips(r, pips);
    int lightest = lowest_of(sides, pips, -1);
    for (int seat = 0; seat < seats && lightest >= 0; seat++) {
        int place = ((seat - s->turn) * rules.step + seats) % seats;
        if (place >= seats - s->ask_count && seat % sides == lightest) return 1;
    }
    return 0;
}

// --- turns: `simple` is known when this is compiled, and then all rare rules fall away ---

#define RARE(rule) (!simple && rules.rule)

// Whether nobody can play or draw, or what else ends a round early.
INLINE int is_blocked(const int simple, const Round *r, const State *s) {
    Mask held = 0, fit = fitting(s);
    for (int seat = 0; seat < rules.seats; seat++) held |= r->hands[seat];
    int can = (held & fit) != 0;
    if (RARE(two_tiles) && can && !s->drawable) {
        can = 0;
        for (int seat = 0; seat < rules.seats; seat++) {
            Mask hand = r->hands[seat];
            // The last tile is played alone.
            can |= (!SEVERAL(hand) && hand & fit) || can_play_two(hand, s->left, s->right);
        }
    }
    return (!can && !s->drawable) || (RARE(dead_ends_to_end) && !(fit & ~s->line)) ||
           (RARE(draw_optional) && s->passes >= rules.seats);
}

// End a round that is blocked; where a seat may call that, ask all of them.
INLINE void settle(const int simple, Round *r, State *s) {
    s->is_over |= is_blocked(simple, r, s);
    if (!RARE(dead_ends_to_call)) return;
    int dead = s->left < 0 ? 0 : !(suit(s->left) & ~s->line) + !(suit(s->right) & ~s->line);
    s->ask_count = !s->is_over && dead >= rules.dead_ends_to_call ? rules.seats : 0;
}

INLINE void end_turn(const int simple, Round *r, State *s) {
    s->is_over |= !r->hands[s->turn];
    s->turn = rules.after[s->turn];
    s->drawn = 0;
    settle(simple, r, s);
}

INLINE int next_tile(Round *r, State *s) {
    int row = rules.own_row[s->turn];
    for (int tried = 1; tried < rules.rows && s->front[row] >= s->back[row]; tried++)
        row = (row + 1) % rules.rows;
    return rules.from_back[s->turn] ? stock_of(r)[--s->back[row]] : stock_of(r)[s->front[row]++];
}

INLINE void take_next_tile(Round *r, State *s) {
    int tile = next_tile(r, s), left = 0;
    for (int row = 0; row < rules.rows; row++) left += s->back[row] - s->front[row];
    r->hands[s->turn] |= bit(tile);
    order_of(r)[tile] = rules.last_place - left;
}

INLINE void draw_tile(const int simple, Round *r, State *s) {
    take_next_tile(r, s);
    s->drawable--, s->drawn++, s->passes = 0;
    if (!RARE(fee)) return;
    for (int seat = 0; seat < rules.seats; seat++)
        if (rules.side[seat] == rules.side[s->turn]) r->points[seat] -= rules.fee;
    s->pot += rules.fee * rules.pot;
}

// Return the tiles that the seat to move may play. Where a turn plays two tiles there are tiles only
// if two, or the last, can be played.
INLINE Mask tiles_to_play(const int simple, const Round *r, const State *s) {
    Mask hand = r->hands[s->turn], able = hand & fitting(s);
    int is_last = !SEVERAL(hand) && !s->drawable;
    if (RARE(two_tiles) && !is_last && !can_play_two(hand, s->left, s->right)) return 0;
    return RARE(two_at_once) && s->drawn == 1 && s->drawable > 0 ? 0 : able;
}

INLINE int can_draw(const int simple, const Round *r, const State *s, Mask able) {
    if (s->drawable <= 0) return 0;
    // The only tile that may be led must be led.
    if (able && !(rules.draw_when_able && (s->left >= 0 || (rules.leader_may_draw && !s->must)))) return 0;
    if (s->drawn >= rules.draw_limit) return 0;
    return !(RARE(fee) && rules.chips) || r->points[s->turn] + rules.chips >= rules.fee;
}

// Move a tile of the seat to move to an end of the line.
INLINE void put_tile(const int simple, Round *r, State *s, int tile, int end) {
    int left = s->left, right = s->right;
    r->hands[s->turn] ^= bit(tile), s->line |= bit(tile), s->last_seat = s->turn;
    if (!simple) {
        Mask both = left < 0 ? 0 : suit(left) & suit(right) & ~rules.doubles;
        s->last_tile = (both & bit(tile) ? CAPICU : 0) | (rules.blank & bit(tile) ? BLANK : 0);
    }
    if (left < 0) {
        s->left = rules.pairs[tile][0], s->right = rules.pairs[tile][1], s->must = 0;
        return;
    }
    if (end == HIGHER) end = has(tile, left) && (left >= right || !has(tile, right)) ? LEFT_END : RIGHT_END;
    if (end == LEFT_END) s->left = other(tile, left);
    else s->right = other(tile, right);
}

// Play a tile, or two, or none: a pass.
INLINE void play(const int simple, Round *r, State *s, int first, int end, int second, int second_end) {
    if (first >= 0) put_tile(simple, r, s, first, end);
    if (second >= 0) put_tile(simple, r, s, second, second_end);
    s->passes = first < 0 ? s->passes + 1 : 0;
    end_turn(simple, r, s);
}

// --- plays and their worth ---

typedef struct {
    const Policy *policy;
    const int32_t *stuck;
    const int8_t *order;
    Mask hand, next_hand, unseen;
    int kinds;
} View;

INLINE int count_kinds(Mask hand) {
    int kinds = 0;
    for (int number = 0; number < rules.numbers; number++) kinds += (hand & suit(number)) != 0;
    return kinds;
}

INLINE View view_of(Round *r, State *s, Mask hand) {
    const Policy *policy = policies + s->turn;
    Mask next_hand = r->hands[rules.after[s->turn]], unseen = rules.all & ~(hand | s->line);
    int base = rules.tiles + 1, kinds = 0;
    if (policy->kinds) kinds = count_kinds(hand);
    const int32_t *row = stuck[s->turn] + (COUNT(next_hand) * base + COUNT(unseen)) * base;
    return (View){policy, row, order_of(r), hand, next_hand, unseen, kinds};
}

// Return the worth of a play after which the ends are `left` and `right`.
INLINE int worth_of(const int two, const View *v, int first, int second, int end, int left, int right) {
    const Policy *policy = v->policy;
    Mask on_left = suit(left), on_right = suit(right), fit = on_left | on_right, rest = v->hand & ~bit(first);
    int worth = policy->shed[first], high = rules.pairs[first][0], low = rules.pairs[first][1];
    if (two && second >= 0) rest &= ~bit(second), worth += policy->shed[second];
    worth += policy->fits * COUNT(rest & fit);
    worth += policy->safe * (two ? can_play_two(rest, left, right) : (rest & fit) != 0);
    if (policy->both)
        worth += policy->both * COUNT(rest & (left == right ? fit : on_left & on_right & ~rules.doubles));
    if (policy->is_stuck) worth += v->stuck[COUNT(v->unseen & fit)];
    if (policy->kinds) {
        int gone = !(rest & suit(high)) + (high != low && !(rest & suit(low)));
        worth += policy->kinds * (two && second >= 0 ? count_kinds(rest) : v->kinds - gone);
    }
    if (policy->blocks) {
        int can = two ? can_play_two(v->next_hand, left, right) : (v->next_hand & fit) != 0;
        worth += policy->blocks * !can;
    }
    if (policy->place) worth += policy->place * v->order[first];
    return worth + policy->left * (end != RIGHT_END);
}

typedef void Visit(void *context, int worth, int first, int end, int second);

// Visit all plays of these tiles, the favourite first.
INLINE void visit_plays(const int simple, Round *r, State *s, Mask able, const int with_worth,
                        Visit visit, void *context) {
    View v;
    if (with_worth) v = view_of(r, s, r->hands[s->turn]);
    if (RARE(two_tiles) && SEVERAL(r->hands[s->turn])) {
        for (Mask lefts = able & suit(s->left); lefts; lefts &= lefts - 1)
            for (Mask rights = able & suit(s->right) & ~(lefts & -lefts); rights; rights &= rights - 1) {
                int first = LOWEST(lefts), second = LOWEST(rights), worth = 0;
                int left = other(first, s->left), right = other(second, s->right);
                if (with_worth) worth = worth_of(1, &v, first, second, LEFT_END, left, right);
                visit(context, worth, first, LEFT_END, second);
            }
        return;
    }
    int leads = s->left < 0, from = leads ? HIGHER : LEFT_END, to = leads ? HIGHER : RIGHT_END;
    for (int end = from; end <= to; end++) {
        // Equal ends are one place.
        if (end == RIGHT_END && s->left == s->right) break;
        Mask tiles = leads ? able : able & suit(end == LEFT_END ? s->left : s->right);
        for (; tiles; tiles &= tiles - 1) {
            int tile = LOWEST(tiles), left = s->left, right = s->right, worth = 0;
            if (leads) left = rules.pairs[tile][0], right = rules.pairs[tile][1];
            else if (end == LEFT_END) left = other(tile, left);
            else right = other(tile, right);
            if (with_worth) worth = worth_of(RARE(two_tiles), &v, tile, -1, end, left, right);
            visit(context, worth, tile, end, -1);
        }
    }
}

// --- playouts ---

// Play as the plain player does.
INLINE void play_plain(const int simple, Round *r, State *s, Mask able) {
    int first = able ? LOWEST(able) : -1, second = -1, low_end = s->left < s->right ? LEFT_END : RIGHT_END;
    if (RARE(two_tiles) && able) {
        Mask high = able & suit(s->left < s->right ? s->right : s->left);
        Mask low = able & suit(s->left < s->right ? s->left : s->right);
        // The only tile for the lower number stays for it.
        if (!SEVERAL(low)) high &= ~low;
        high &= -high, low &= ~high;
        // Else a last tile alone goes where it fits.
        if (high && low) first = LOWEST(high), second = LOWEST(low);
    }
    play(simple, r, s, first, HIGHER, second, low_end);
}

typedef struct {
    int64_t noise;
    int noisy, most, first, end, second;
} Best;

INLINE void keep_best(void *context, int worth, int first, int end, int second) {
    Best *best = context;
    int64_t place = best->noise + (end == RIGHT_END) * END_STEP;
    place += (first + 1) * TILE_STEP + (second + 1) * SECOND_STEP;
    if (best->noisy) worth += noises[place & (NOISES - 1)];
    if (worth > best->most) best->most = worth, best->first = first, best->end = end, best->second = second;
}

// Play the option of the highest worth and noise, of equal ones the favourite.
INLINE void play_best(const int simple, Round *r, State *s, Mask able, int64_t noise, int noisy) {
    Best best = {noise, noisy, INT32_MIN, -1, LEFT_END, -1};
    // Most turns have one play; it may be led, or has one end where the other end is another number.
    Mask twice = s->left < 0 || s->left == s->right ? 0 : able & suit(s->left) & suit(s->right);
    if (SEVERAL(able) || twice) visit_plays(simple, r, s, able, 1, keep_best, &best);
    else if (able) {
        best.first = LOWEST(able);
        if (s->left >= 0 && !has(best.first, s->left)) best.end = RIGHT_END;
    }
    play(simple, r, s, best.first, best.end, best.second, RIGHT_END);
}

INLINE void play_round_out(const int simple, Round *r, State *s, int policied, int noisy, int64_t seed) {
    while (!s->is_over) {
        if (RARE(dead_ends_to_call) && is_called(r, s)) return;
        Mask able = tiles_to_play(simple, r, s);
        int drew = 0;
        while (!able && can_draw(simple, r, s, 0)) {
            draw_tile(simple, r, s);
            if ((drew = RARE(draw_ends_turn))) break;
            able = tiles_to_play(simple, r, s);
        }
        seed += A_TURN;
        if (drew) end_turn(simple, r, s);
        else if (policied) play_best(simple, r, s, able, seed, noisy);
        else play_plain(simple, r, s, able);
    }
}

INLINE void play_rounds_out(const int simple, int count, const int policied, int noisy) {
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State copy = r->state, *s = &copy;
        int was_over = s->is_over, before[SEATS];
        for (int seat = 0; seat < rules.seats; seat++) before[seat] = r->points[seat];
        play_round_out(simple, r, s, policied, noisy, noisy ? seeds[row] : 0);
        score(r, s, gains[row]);
        for (int seat = 0; seat < rules.seats; seat++)
            gains[row][seat] = was_over ? 0 : gains[row][seat] + r->points[seat] - before[seat];
    }
}

// --- what batch.py calls ---

EXPORT void begin_rules(void) {
    for (int part = 0; part < 8; part++)
        for (int value = 0; value < 256; value++) {
            byte_pips[part][value] = 0;
            for (int tile = 8 * part; tile < rules.tiles && tile < 8 * part + 8; tile++)
                if (value >> tile % 8 & 1) byte_pips[part][value] += rules.pips[tile];
        }
}

// Each in a function of its own: where one had all three, wasmtime kept little in registers, and the
// playouts of reviews took 1.6 times as long.
#define APART static __attribute__((noinline))
APART void play_by_policy(int count, int noisy) { play_rounds_out(1, count, 1, noisy); }
APART void play_plainly(int count) { play_rounds_out(1, count, 0, 0); }
APART void play_rare(int count, int policied, int noisy) { play_rounds_out(0, count, policied, noisy); }

EXPORT void play_out(int count, int policied, int noisy) {
    if (!rules.is_simple) play_rare(count, policied, noisy);
    else if (policied) play_by_policy(count, noisy);
    else play_plainly(count);
}

EXPORT void find_gains(int count) {
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State *s = &r->state;
        if (s->is_over && !s->credited) score(r, s, gains[row]);
        else for (int seat = 0; seat < rules.seats; seat++) gains[row][seat] = 0;
    }
}

EXPORT void find_choices(int count) {
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State *s = &r->state;
        Mask able = tiles_to_play(0, r, s);
        int leads = s->left < 0;
        choices[row].plays[LEFT_END] = leads ? 0 : able & suit(s->left);
        choices[row].plays[RIGHT_END] = leads || s->left == s->right ? 0 : able & suit(s->right);
        choices[row].plays[HIGHER] = leads ? able : 0;
        choices[row].draws = can_draw(0, r, s, able);
        choices[row].passes = !able && (rules.draw_optional || !choices[row].draws);
    }
}

static void note_play(void *context, int worth, int first, int end, int second) {
    Option **next = context;
    *(*next)++ = (Option){0, worth, first, end, second, 0};
}

// Write all plays, and a pass where there is none; return their number.
EXPORT int find_plays(int count, int with_worth) {
    Option *option = options, *next = options;
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State *s = &r->state;
        Mask able = tiles_to_play(0, r, s);
        if (able && with_worth) visit_plays(0, r, s, able, 1, note_play, &next);
        else if (able) visit_plays(0, r, s, able, 0, note_play, &next);
        else note_play(&next, 0, -1, LEFT_END, -1);
        for (; option < next; option++) option->row = row;
    }
    return next - options;
}

EXPORT void act(int count) {
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State *s = &r->state;
        switch (moves[row].kind) {
        case PLAY: play(0, r, s, moves[row].first, moves[row].end, moves[row].second, RIGHT_END); break;
        case DRAW:
            draw_tile(0, r, s);
            if (rules.draw_ends_turn) end_turn(0, r, s);
            else s->is_over |= is_blocked(0, r, s);
            break;
        // The seat calls the round blocked, or goes on.
        case ANSWER: if (moves[row].first >= 0) s->is_over = 1; else s->ask_count--;
        }
    }
}

// Begin rounds that were only laid out. `wanted`: the tiles of which the highest decides who leads,
// or 0; one of them is drawn for where nobody holds any.
EXPORT void begin(int count, int by_double, Mask wanted) {
    for (int row = 0; row < count; row++) {
        Round *r = round_at(row);
        State *s = &r->state;
        Mask held = 0;
        for (int seat = 0; seat < rules.seats; seat++) held |= r->hands[seat];
        for (; by_double && rules.draws_for_double && !(held & wanted); s->turn = rules.after[s->turn]) {
            take_next_tile(r, s);
            held |= r->hands[s->turn];
            if (s->drawable) s->drawable--;
        }
        if (by_double)
            for (s->turn = 0; !(r->hands[s->turn] & held & -held);) s->turn++;
        s->must = by_double ? held & -held : 0;
        if (rules.highest_leads) s->must = r->hands[s->turn] & -r->hands[s->turn];
        if (!rules.must_lead) s->must = 0;
        if (rules.starter) {
            int from = 0;
            while (s->front[from] >= s->back[from]) from++;
            int tile = stock_of(r)[s->front[from]++];
            if (s->drawable) s->drawable--;
            s->line = bit(tile), s->left = rules.pairs[tile][0], s->right = rules.pairs[tile][1];
        }
        int sides = count_sides();
        for (int seat = 0; seat < rules.seats && rules.ante; seat++) {
            int paid = rules.ante;
            if (rules.chips && paid > r->points[seat] + rules.chips) paid = r->points[seat] + rules.chips;
            r->points[seat] -= paid;
            if (seat < sides) s->pot += paid;
        }
        settle(0, r, s);
    }
}

#define ADDRESS(name) EXPORT void *name##_address(void) { return &name; }
ADDRESS(rules) ADDRESS(rounds) ADDRESS(policies) ADDRESS(stuck) ADDRESS(noises) ADDRESS(seeds)
ADDRESS(gains) ADDRESS(moves) ADDRESS(choices) ADDRESS(options)
