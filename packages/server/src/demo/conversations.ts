import { DEMO_CHANNELS, DEMO_DIRECT_CONVERSATIONS, DEMO_PEOPLE } from './organization.js';
import type { SeededRandom } from './seeded-random.js';

/** Message sent `secondsAgo` before the creation of the demo. */
export interface DemoMessage {
  /** Email. */
  readonly sender: string;
  readonly to:
    | { readonly kind: 'channel'; readonly channel: string; readonly topic: string }
    /** Other participants; empty for messages to oneself. */
    | { readonly kind: 'direct'; readonly others: readonly string[] };
  readonly content: string;
  readonly secondsAgo: number;
}

const TOPICS: Readonly<Record<string, readonly string[]>> = {
  Denmark: ['castle maintenance', 'ghost sightings', 'dinner on Thursday'],
  Verona: ['welcome', 'balcony repairs', 'feud, continued'],
  Venice: ['gondola schedule', 'merchants and loans', 'carnival'],
  Rome: ['road works', 'senate minutes'],
  Scotland: ['weather', 'moving forest', 'clan gathering'],
  'core team': ['roadmap', 'hiring'],
  general: ['picnic', 'lunch', 'reading list'],
  sandbox: ['test', 'formatting'],
  announce: ['news', 'opening hours'],
};

const SUBJECTS = [
  'the north gate',
  'the new release',
  'the guest list',
  'the second act',
  'the ferry timetable',
  'the lighting',
  'the letter from the embassy',
  'the rehearsal room',
  'the search box',
  'the painted scenery',
  'the ledger',
  'the old bridge',
];

/** `%` is replaced by a subject. */
const OPENERS = [
  'Has anybody looked at % since Monday?',
  'I would like to talk about % before we decide anything.',
  'Good news: % is done.',
  'A question about %: who is in charge of it?',
  'Please have a look at % when you find the time.',
  'I have written down what we know about %.',
];

const REPLIES = [
  'I will take care of %.',
  'Agreed. As for %, I would rather wait a week.',
  'I looked at % this morning: *nothing to worry about*.',
  'That is exactly what worries me about %.',
  'Thanks! Could you put % on the list?',
  'Three things about %:\n\n1. it is late\n2. it is expensive\n3. it is worth it',
  '> What about %?\n\nBetter than last year, I think.',
  'Let us say **Thursday at ten** for %.',
  'For the record, % was `green` in every run so far.',
  'I cannot say much about %, sorry.',
  '~~Tomorrow~~ Next week we shall know more about %.',
  'More about % here: https://example.com/notes',
  '@**Zoe** has seen % before, as far as I know.',
  'See #**Denmark** for %.',
  'Words, words, words. What has been *decided* about %?',
  '```\nstatus: open\nabout:  %\n```',
];

const SHORT = [
  'Yes.',
  'No.',
  'Good idea!',
  'Thank you :+1:',
  'On my way.',
  'Ha!',
  'Done.',
  'Why not?',
  'See you there.',
];

const PER_CHANNEL = 45;
const PER_DIRECT_CONVERSATION = 14;
/** Period in which all messages were sent. */
export const PERIOD_SECONDS = 10 * 86_400;

/** Period of the opening messages. */
export const OPENING_SECONDS = 3600;

const opening = (minutesAgo: number, sender: string, to: DemoMessage['to'], content: string): DemoMessage => ({
  ...{ sender: `${sender}@zulip.com`, to, content },
  secondsAgo: minutesAgo * 60,
});

const inTopic = (channel: string, topic: string): DemoMessage['to'] => ({ kind: 'channel', channel, topic });
const directly = (...names: readonly string[]): DemoMessage['to'] => ({
  kind: 'direct',
  others: names.map((name) => `${name}@zulip.com`),
});

const mention = (name: string): string =>
  `@**${DEMO_PEOPLE.find(({ email }) => email === `${name}@zulip.com`)!.fullName}**`;

const PICNIC = {
  ...{ AARON: 'bread', ZOE: 'cheese', cordelia: 'salad', desdemona: 'blankets', hamlet: 'a cake', iago: 'apples' },
  ...{ othello: 'plates', polonius: 'advice', shiva: 'tea' },
};

/** Unread messages of a new demo, oldest first. Everybody is mentioned, and everybody gets a direct message. */
export const OPENING: readonly DemoMessage[] = [
  opening(58, 'desdemona', inTopic('announce', 'news'), 'The reading room is **closed** until noon: the roof leaks.'),
  opening(52, 'iago', inTopic('Verona', 'balcony repairs'), 'A carpenter could come on Thursday. Who can let him in?'),
  opening(49, 'cordelia', inTopic('Verona', 'balcony repairs'), 'I can, until noon. Then somebody has to take over.'),
  opening(
    41,
    'prospero',
    inTopic('general', 'picnic'),
    `Saturday at four, on the island. Who brings what?\n\n${Object.entries(PICNIC)
      .map(([name, what]) => `- ${mention(name)}: ${what}`)
      .join('\n')}`,
  ),
  opening(38, 'ZOE', inTopic('general', 'picnic'), `Cheese it is. ${mention('prospero')}, will the weather hold?`),
  opening(30, 'hamlet', inTopic('general', 'picnic'), 'To bake, or not to bake? I will :cake:'),
  opening(22, 'cordelia', directly('hamlet'), 'Do you have a recipe that needs no oven?'),
  opening(19, 'hamlet', directly('polonius'), 'Could you keep your advice to one page?'),
  opening(16, 'iago', directly('desdemona', 'othello'), 'The roof of the reading room is being mended.'),
  opening(11, 'shiva', directly('prospero', 'AARON', 'ZOE'), 'Who takes the boat with the tea?'),
  opening(7, 'othello', directly('iago', 'cordelia', 'shiva'), 'I take the ladder back on Friday.'),
];

/** Returns messages in sending order; deterministic per seed. */
export function demoMessages(random: SeededRandom): readonly DemoMessage[] {
  const messages = [
    ...DEMO_CHANNELS.flatMap(({ name, subscribers }) => channelTalk(random, name, subscribers)),
    ...DEMO_DIRECT_CONVERSATIONS.flatMap((people) => directTalk(random, people)),
  ];
  return messages.sort((a, b) => b.secondsAgo - a.secondsAgo);
}

function channelTalk(random: SeededRandom, channel: string, subscribers: readonly string[]): DemoMessage[] {
  const started = new Set<string>();
  return times(random, PER_CHANNEL).map((secondsAgo) => {
    const topic = random.pick(TOPICS[channel]!);
    const content = started.has(topic) ? reply(random) : phrase(random, OPENERS);
    started.add(topic);
    return { sender: random.pick(subscribers), to: { kind: 'channel', channel, topic }, content, secondsAgo };
  });
}

function directTalk(random: SeededRandom, people: readonly string[]): DemoMessage[] {
  return times(random, PER_DIRECT_CONVERSATION).map((secondsAgo, index) => {
    const sender = random.pick(people);
    const others = people.filter((person) => person !== sender);
    const content = index === 0 ? phrase(random, OPENERS) : reply(random);
    return { sender, to: { kind: 'direct', others }, content, secondsAgo };
  });
}

/** Descending, so that conversations begin in the past. */
function times(random: SeededRandom, count: number): number[] {
  return Array.from({ length: count }, () => random.below(PERIOD_SECONDS) + 1).sort((a, b) => b - a);
}

const reply = (random: SeededRandom): string => (random.below(4) === 0 ? random.pick(SHORT) : phrase(random, REPLIES));

const phrase = (random: SeededRandom, phrases: readonly string[]): string =>
  random.pick(phrases).replaceAll('%', random.pick(SUBJECTS));
