import fc from 'fast-check';

export const PEOPLE = ['ann', 'bob', 'cyd', 'dan'] as const;
/** Follows nothing: gets what names it, and what is sent to it. */
export const BOT = 'bot';
export const EVERYBODY = [...PEOPLE, BOT] as const;
/** `vault` is private, with protected history. */
export const CHANNELS = ['open', 'other', 'vault'] as const;
/** Two of them are one topic. */
export const TOPICS = ['', 'lunch', 'Lunch', 'ops'] as const;

export type Person = (typeof EVERYBODY)[number];
export type ChannelName = (typeof CHANNELS)[number];
export type Topic = (typeof TOPICS)[number];

/** What somebody is named by in a message, or that a notice is not read for him. */
export const NAMINGS = ['mentioned', 'topicWildcardMentioned', 'hasAlertWord', 'unread'] as const;
export type Naming = (typeof NAMINGS)[number];

/** Some of the messages sent so far. Numbers beyond the last one begin again with the first. */
export type Which =
  | { readonly kind: 'some'; readonly picks: readonly number[] }
  /** Every one, every second one … from one on. */
  | { readonly kind: 'range'; readonly from: number; readonly stride: number; readonly count: number };

type Deed =
  | {
      readonly kind: 'send';
      readonly from: Person;
      readonly to: ChannelName | readonly Person[];
      readonly topic: Topic;
      readonly naming: readonly (readonly [Person, Naming])[];
      readonly mentionsChannel: boolean;
      readonly isReadByDefault: boolean;
      readonly isReadBySender: boolean;
      /** How often it is sent, one after the other. */
      readonly times: number;
    }
  | { readonly kind: 'read' | 'unread' | 'adopt'; readonly who: Person; readonly which: Which }
  /** Everything of it. */
  | { readonly kind: 'readNarrow'; readonly who: Person; readonly narrow: Narrow }
  | {
      readonly kind: 'set' | 'clear';
      readonly flag: 'starred' | 'collapsed';
      readonly who: Person;
      readonly which: Which;
    }
  | { readonly kind: 'markAllRead' | 'deactivate' | 'reactivate'; readonly who: Person }
  | { readonly kind: 'subscribe' | 'unsubscribe'; readonly who: Person; readonly channel: ChannelName }
  | { readonly kind: 'mute' | 'unmute'; readonly who: Person; readonly sender: Person }
  /** Those of the messages that are where the first one is. */
  | { readonly kind: 'move'; readonly which: Which; readonly to: ChannelName; readonly topic: Topic | null }
  | { readonly kind: 'remove'; readonly which: Which };

/** One unit of work. One that fails does everything and then throws. */
export type Step = Deed & { readonly fails: boolean };

export type Term =
  | { readonly kind: 'recipient'; readonly place: ChannelName | number; readonly negated: boolean }
  | { readonly kind: 'topic'; readonly topic: Topic; readonly negated: boolean }
  | { readonly kind: 'sender'; readonly sender: Person; readonly negated: boolean }
  | { readonly kind: 'message'; readonly pick: number; readonly negated: boolean }
  | { readonly kind: 'nothing'; readonly negated: boolean };

/** What pages and unread lists are asked for. */
export interface Narrow {
  readonly scope: 'own' | 'shared';
  readonly terms: readonly Term[];
  readonly without: readonly ChannelName[];
}

export interface History {
  /** The units of a chapter are called all at once; every answer is compared after each chapter. */
  readonly chapters: readonly (readonly Step[])[];
  readonly narrows: readonly Narrow[];
}

const pick = fc.nat({ max: 100 });
const person = fc.constantFrom(...PEOPLE);
const anybody = fc.constantFrom(...EVERYBODY);
const channel = fc.constantFrom(...CHANNELS);
const topic = fc.constantFrom(...TOPICS);
const which: fc.Arbitrary<Which> = fc.oneof(
  fc.record({ kind: fc.constant('some' as const), picks: fc.array(pick, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    kind: fc.constant('range' as const),
    from: pick,
    stride: fc.integer({ min: 1, max: 4 }),
    count: fc.integer({ min: 1, max: 20 }),
  }),
);

const negated = fc.boolean();
const channelTerm: fc.Arbitrary<Term> = fc.record({
  kind: fc.constant('recipient' as const),
  place: channel,
  negated: fc.constant(false),
});
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ kind: fc.constant('recipient' as const), place: fc.oneof(channel, pick), negated }),
  fc.record({ kind: fc.constant('topic' as const), topic, negated }),
  fc.record({ kind: fc.constant('sender' as const), sender: person, negated }),
  fc.record({ kind: fc.constant('message' as const), pick, negated }),
  fc.record({ kind: fc.constant('nothing' as const), negated }),
);
const without = fc.oneof(fc.constant([]), fc.uniqueArray(channel, { maxLength: 2 }));
const narrow: fc.Arbitrary<Narrow> = fc.oneof(
  fc.record({ scope: fc.constant('own' as const), terms: fc.array(term, { maxLength: 3 }), without }),
  // Shared history is always that of a place.
  fc
    .tuple(channelTerm, fc.array(term, { maxLength: 2 }), without)
    .map(([first, more, left]) => ({ scope: 'shared' as const, terms: [first, ...more], without: left })),
);

/** What people mark as read at once: a channel, a topic, seldom anything else. */
const readable: fc.Arbitrary<Narrow> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(channelTerm, fc.option(fc.record({ kind: fc.constant('topic' as const), topic, negated: often(false) })))
      .map(([place, inTopic]) => ({
        scope: 'own' as const,
        terms: inTopic ? [place, inTopic] : [place],
        without: [],
      })),
  },
  { weight: 1, arbitrary: narrow },
);

const send = fc.record({
  kind: fc.constant('send' as const),
  from: person,
  to: fc.oneof(
    { weight: 4, arbitrary: channel },
    { weight: 1, arbitrary: fc.uniqueArray(anybody, { minLength: 1, maxLength: 3 }) },
  ),
  topic,
  naming: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.tuple(anybody, fc.constantFrom(...NAMINGS)), { maxLength: 3 }) },
  ),
  mentionsChannel: often(false),
  isReadByDefault: often(false),
  isReadBySender: fc.boolean(),
  times: fc.oneof({ weight: 12, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 40 }) }),
});

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 14, arbitrary: send },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constantFrom('read', 'read', 'unread', 'adopt'), who: anybody, which }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('readNarrow' as const), who: anybody, narrow: readable }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('set', 'set', 'clear'),
      flag: fc.constantFrom('starred', 'collapsed'),
      who: anybody,
      which,
    }),
  },
  { weight: 7, arbitrary: fc.record({ kind: fc.constantFrom('subscribe', 'unsubscribe'), who: person, channel }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('markAllRead', 'deactivate', 'reactivate'), who: person }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('mute', 'mute', 'unmute'), who: anybody, sender: person }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('move' as const), which, to: channel, topic: fc.option(topic) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), which }) },
);

const step: fc.Arbitrary<Step> = fc.tuple(deed, often(false)).map(([done, fails]) => ({ ...done, fails }));

export function histories(stepsOfChapter: number): fc.Arbitrary<History> {
  return fc.record({
    chapters: fc.array(fc.array(step, { minLength: 1, maxLength: stepsOfChapter, size: 'max' }), {
      minLength: 1,
      maxLength: 3,
    }),
    narrows: fc.array(narrow, { minLength: 2, maxLength: 6 }),
  });
}

/** Mostly one of two. */
function often(usual: boolean): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(!usual) });
}
