import type { ChannelPrivacy } from '@parley/domain/channels';
import type { SearchedWord } from '@parley/domain/markdown';
import { MESSAGE_PROPERTIES, type MessageProperty, type ViewerFlag } from '@parley/domain/messages';
import fc from 'fast-check';

export const PEOPLE = ['ann', 'bob', 'cyd', 'dan'] as const;
/** Bot without subscriptions, which receives mentions and direct messages. */
export const BOT = 'bot';
export const EVERYBODY = [...PEOPLE, BOT] as const;
/** `vault` is private with protected history. */
export const CHANNELS = ['open', 'other', 'vault'] as const;
/** Topics; two of them differ only in case. */
export const TOPICS = ['', 'lunch', 'Lunch', '✔ ops'] as const;

export type Person = (typeof EVERYBODY)[number];
export type ChannelName = (typeof CHANNELS)[number];
export type Topic = (typeof TOPICS)[number];

/** Kinds of mentions, or a notice left unread for a user. */
export const NAMINGS = ['mentioned', 'topicWildcardMentioned', 'hasAlertWord', 'unread'] as const;
export type Naming = (typeof NAMINGS)[number];

/** Selection of messages sent so far. Numbers beyond the last message wrap around. */
export type Which =
  | { readonly kind: 'some'; readonly picks: readonly number[] }
  /** Every message, every second message and so on, from a start. */
  | { readonly kind: 'range'; readonly from: number; readonly stride: number; readonly count: number };

type Deed =
  | {
      readonly kind: 'send';
      readonly from: Person;
      readonly to: ChannelName | readonly Person[];
      readonly topic: Topic;
      readonly naming: readonly (readonly [Person, Naming])[];
      readonly mentionsChannel: boolean;
      readonly has: readonly Exclude<MessageProperty, 'isResolved'>[];
      readonly isReadByDefault: boolean;
      readonly isReadBySender: boolean;
      /** Number of repetitions. */
      readonly times: number;
    }
  | { readonly kind: 'read' | 'unread' | 'addHistorical'; readonly who: Person; readonly which: Which }
  /** Marks everything in the narrow as read. */
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
  /** Moves those selected messages that are in the same conversation as the first one. */
  | { readonly kind: 'move'; readonly which: Which; readonly to: ChannelName; readonly topic: Topic | null }
  /** Moves the selected direct messages to the conversation of these people. */
  | { readonly kind: 'moveDirect'; readonly which: Which; readonly to: readonly Person[] }
  /** Edits the first selected message; mentions only its holders. */
  | {
      readonly kind: 'edit';
      readonly which: Which;
      readonly naming: readonly (readonly [Person, Exclude<Naming, 'unread'>])[];
      readonly mentionsChannel: boolean;
      readonly has: readonly Exclude<MessageProperty, 'isResolved' | 'hasReactions'>[];
    }
  | { readonly kind: 'remove'; readonly which: Which };

/** Transaction of one step. A failing step executes everything and then throws. */
export type Step = Deed & { readonly fails: boolean };

/** Condition with the names of this history; numbers stand for message positions. */
export type Term =
  | { readonly kind: 'recipient'; readonly recipients: readonly (ChannelName | number)[] }
  | { readonly kind: 'direct' }
  | { readonly kind: 'channelPrivacy'; readonly privacies: readonly ChannelPrivacy[] }
  | { readonly kind: 'topic'; readonly topic: Topic }
  | { readonly kind: 'channelTopic'; readonly topics: readonly (readonly [ChannelName, Topic])[] }
  | { readonly kind: 'sender'; readonly sender: Person }
  | { readonly kind: 'message' | 'fromMessage'; readonly pick: number }
  | { readonly kind: 'property'; readonly property: MessageProperty }
  | { readonly kind: 'flag'; readonly flag: ViewerFlag }
  | { readonly kind: 'search'; readonly words: readonly SearchedWord[]; readonly phrases: readonly string[] }
  | { readonly kind: 'mentions'; readonly who: Person }
  | { readonly kind: 'not'; readonly term: Term }
  | { readonly kind: 'anyOf' | 'allOf'; readonly terms: readonly Term[] };

/** Narrow of page and unread queries. */
export interface Narrow {
  readonly scope: 'own' | 'shared';
  readonly terms: readonly Term[];
}

export interface History {
  /** Steps of a chapter run concurrently; all results are compared after each chapter. */
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

const FLAGS: readonly ViewerFlag[] = [
  'read',
  'starred',
  'mentioned',
  'channelWildcardMentioned',
  'topicWildcardMentioned',
  'hasAlertWord',
];
const PRIVACIES: readonly ChannelPrivacy[] = ['public', 'privateProtectedHistory'];

/** Words found in contents, in topics, in both and in neither. */
const SEARCHED = ['hello', 'ann', 'bob', 'lunch', 'ops', 'absent'] as const;

const channelTerm: fc.Arbitrary<Term> = channel.map((name) => ({ kind: 'recipient', recipients: [name] }));
const channelTopics = fc.array(fc.tuple(channel, topic), { maxLength: 3 });
/** Covers every kind of condition. */
const simpleTerm: fc.Arbitrary<Term> = fc.oneof(
  fc.record({
    kind: fc.constant('recipient' as const),
    recipients: fc.array(fc.oneof(channel, pick), { maxLength: 2 }),
  }),
  fc.constant({ kind: 'direct' as const }),
  fc.record({ kind: fc.constant('channelPrivacy' as const), privacies: fc.subarray([...PRIVACIES]) }),
  fc.record({ kind: fc.constant('topic' as const), topic }),
  fc.record({ kind: fc.constant('channelTopic' as const), topics: channelTopics }),
  fc.record({ kind: fc.constant('sender' as const), sender: person }),
  fc.record({ kind: fc.constantFrom('message' as const, 'fromMessage' as const), pick }),
  fc.record({
    kind: fc.constant('search' as const),
    words: fc
      .uniqueArray(fc.constantFrom(...SEARCHED), { minLength: 1, maxLength: 2 })
      // Some words have an alternative or are unfinished.
      .map((terms) =>
        terms.map((term) => [term === 'ann' ? [term, 'bob'] : term === 'lunch' ? ['x', { beginning: 'lun' }] : [term]]),
      ),
    phrases: fc.subarray(['hello from', 'unch']),
  }),
  fc.record({ kind: fc.constant('mentions' as const), who: anybody }),
  fc.record({ kind: fc.constant('property' as const), property: fc.constantFrom(...MESSAGE_PROPERTIES) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flag' as const), flag: fc.constantFrom(...FLAGS) }) },
);
const anySign = (inner: fc.Arbitrary<Term>): fc.Arbitrary<Term> =>
  fc.oneof(
    inner,
    inner.map((term) => ({ kind: 'not' as const, term })),
  );
const combinedOf = (inner: fc.Arbitrary<Term>): fc.Arbitrary<Term> =>
  fc.record({
    kind: fc.constantFrom('anyOf' as const, 'allOf' as const),
    terms: fc.array(anySign(inner), { maxLength: 3 }),
  });
/** Condition like `in:home`: muted channels with exceptions for topics. */
const mutedTerm: fc.Arbitrary<Term> = fc
  .tuple(channelTopics, fc.array(channel, { maxLength: 2 }), channelTopics)
  .map(([muted, recipients, kept]) => ({
    kind: 'anyOf',
    terms: [
      { kind: 'channelTopic', topics: muted },
      {
        kind: 'allOf',
        terms: [
          { kind: 'recipient', recipients },
          { kind: 'not', term: { kind: 'channelTopic', topics: kept } },
        ],
      },
    ],
  }));
const term: fc.Arbitrary<Term> = anySign(
  fc.oneof(
    { weight: 6, arbitrary: simpleTerm },
    { weight: 1, arbitrary: combinedOf(simpleTerm) },
    { weight: 1, arbitrary: combinedOf(fc.oneof(simpleTerm, combinedOf(simpleTerm))) },
    { weight: 1, arbitrary: mutedTerm },
  ),
);
const narrow: fc.Arbitrary<Narrow> = fc.oneof(
  fc.record({ scope: fc.constant('own' as const), terms: fc.array(term, { maxLength: 3 }) }),
  // Shared history always names channels or all channels of a kind.
  fc
    .tuple(
      fc.oneof(
        { weight: 3, arbitrary: channelTerm },
        { weight: 1, arbitrary: fc.constant({ kind: 'channelPrivacy' as const, privacies: PRIVACIES.slice(0, 1) }) },
      ),
      fc.array(term, { maxLength: 2 }),
    )
    .map(([first, more]) => ({ scope: 'shared' as const, terms: [first, ...more] })),
);

/** Typical bulk reads: a channel, a topic, rarely anything else. */
const readable: fc.Arbitrary<Narrow> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(channelTerm, fc.option(fc.record({ kind: fc.constant('topic' as const), topic })))
      .map(([inChannel, inTopic]) => ({
        scope: 'own' as const,
        terms: inTopic ? [inChannel, inTopic] : [inChannel],
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
  has: fc.subarray(['hasLink', 'hasImage', 'hasAttachment'] as const),
  isReadByDefault: often(false),
  isReadBySender: fc.boolean(),
  times: fc.oneof({ weight: 12, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 40 }) }),
});

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 14, arbitrary: send },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constantFrom('read', 'read', 'unread', 'addHistorical'), who: anybody, which }),
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
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('moveDirect' as const),
      which,
      to: fc.uniqueArray(anybody, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      which,
      naming: fc.array(fc.tuple(anybody, fc.constantFrom('mentioned', 'topicWildcardMentioned', 'hasAlertWord')), {
        maxLength: 3,
      }),
      mentionsChannel: fc.boolean(),
      has: fc.subarray(['hasLink', 'hasImage', 'hasAttachment'] as const),
    }),
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

/** Mostly generates the usual value. */
function often(usual: boolean): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(!usual) });
}
