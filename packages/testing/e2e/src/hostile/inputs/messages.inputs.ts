import { HOSTILE_TEXTS, RARE_WORDS, randomWords, rareWordsText } from '@parley/testkit';
import { type Input, type InputContext, type Inputs, lengthened, messageIn, peopleOf } from '../input-context.js';
import type { Fields } from '../routes.js';

/** Valid narrows of maximum length. */
const NARROWS: Readonly<Record<string, Input>> = {
  'a hundred channels': ({ organization: { channelIds } }) =>
    narrowOf('channel', (n) => channelIds[n % channelIds.length]),
  'a hundred topics': () => narrowOf('topic', (n) => lengthened(`${n} `, 900)),
  'a hundred conversations': (surroundings) => {
    const people = peopleOf(surroundings).slice(0, 150);
    return narrowOf('dm', () => people);
  },
  'a hundred senders': (surroundings) => {
    const people = peopleOf(surroundings);
    return narrowOf('sender', (n) => people[n % people.length]);
  },
};

/** All terms are negated, so that many messages remain. */
const narrowOf = (operator: string, operandOf: (n: number) => unknown): Fields => ({
  narrow: Array.from({ length: 100 }, (_, n) => ({ operator, operand: operandOf(n), negated: true })),
});

const narrowed = (fields: Fields): Readonly<Record<string, Input>> =>
  Object.fromEntries(
    Object.entries(NARROWS).map(([name, narrow]) => [
      name,
      async (surroundings: InputContext) => ({ ...fields, ...(await narrow(surroundings)) }),
    ]),
  );

/** Maximum number of search words in a narrow. */
const FIFTY_WORDS = Array.from({ length: 50 }, (_, n) => `word${n}`).join(' ');

/** Words that have forms in many languages. */
const FIFTY_RARE_WORDS = randomWords(RARE_WORDS.Turkish!.letters, 50).join(' ');

const searches = (fields: Fields): Readonly<Record<string, Input>> => ({
  'fifty rare words': () => ({ ...fields, narrow: [['search', FIFTY_RARE_WORDS]] }),
  'one word, repeated': () => ({ ...fields, narrow: [['search', 'meeting '.repeat(1000)]] }),
  'fifty words': () => ({ ...fields, narrow: [['search', FIFTY_WORDS]] }),
  'everything without any of fifty words': () => ({
    ...fields,
    narrow: FIFTY_WORDS.split(' ').map((operand) => ({ operator: 'search', operand, negated: true })),
  }),
  'whatever mentions none of fifty people': (surroundings) => ({
    ...fields,
    narrow: peopleOf(surroundings)
      .slice(0, 50)
      .map((operand) => ({ operator: 'mentions', operand, negated: true })),
  }),
});

const messageIds = ({ organization }: InputContext, most: number): readonly number[] =>
  Array.from({ length: Math.min(most, organization.size.messages) }, (_, n) => n + 1);
async function pollBy({ organization: { channelIds }, n, post }: InputContext): Promise<unknown> {
  return (await post('/messages', { type: 'channel', to: channelIds[0], topic: 'polls', content: `/poll ${n}` })).id;
}
const LATEST = { anchor: 'newest', num_before: 5000, num_after: 0 };
const FEWEST = { anchor: 'newest', num_before: 1, num_after: 0 };
/** Rendered message to all users. */
const saying =
  (content: string): Input =>
  ({ organization: { channelIds } }) => ({
    type: 'channel',
    to: channelIds[0],
    topic: lengthened('', 10_000),
    content,
  });

export const INPUTS: Inputs = {
  'POST /messages': {
    'a small one': ({ organization: { channelIds } }) => ({
      type: 'channel',
      to: channelIds.at(-1),
      topic: 'x',
      content: 'x',
    }),
    ...Object.fromEntries(
      ['words', 'mixed', 'emojiu', 'at3', 'channels', 'math2', 'jscode2'].map((text) => [
        `to everybody: ${text}`,
        saying(HOSTILE_TEXTS[text]!),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(RARE_WORDS).map(([name, words]) => [
        `to everybody: rare words (${name})`,
        (surroundings: InputContext) => saying(rareWordsText(words, surroundings.n + 1))(surroundings),
      ]),
    ),
    'to everybody, mentioned': saying(`@**all** ${HOSTILE_TEXTS.at3}`.slice(0, 10_000)),
    'to everybody by groups, each in the next': async (surroundings) => {
      const { n, post, organization } = surroundings;
      const names = Array.from({ length: 30 }, (_, depth) => `Crowd ${n} ${depth}`);
      let inner: readonly unknown[] = [];
      for (const name of names) {
        const members = inner.length === 0 ? peopleOf(surroundings) : [];
        const { group_id } = await post('/user_groups/create', { name, description: '', members, subgroups: inner });
        inner = [group_id];
      }
      const content = names.map((name) => `@*${name}*`).join(' ');
      return { type: 'channel', to: organization.channelIds[0], topic: names[0], content };
    },
    'to everybody, a text that is cut': saying('x'.repeat(900_000)),
    'to everybody by name, with a widget': (surroundings) => ({
      type: 'direct',
      to: peopleOf(surroundings),
      content: HOSTILE_TEXTS.words,
      widget_content: { widget_type: 'zform', extra_data: { heading: 'x'.repeat(9000), type: 'choices', choices: [] } },
    }),
  },
  'GET /messages': {
    one: () => FEWEST,
    'the latest': () => LATEST,
    'around the first unread': () => ({
      anchor: 'first_unread',
      num_before: 2500,
      num_after: 2500,
      client_gravatar: false,
    }),
    'by id': (surroundings) => ({ message_ids: messageIds(surroundings, 5000) }),
    ...narrowed(LATEST),
    ...searches(LATEST),
  },
  'GET /json/messages': {
    'the latest': () => ({ ...LATEST, narrow: [['channels', 'web-public']] }),
    'all but a hundred channels': ({ organization: { channelIds } }) => ({
      ...LATEST,
      narrow: [
        ['channels', 'web-public'],
        ...Array.from({ length: 99 }, (_, n) => ({
          operator: 'channel',
          operand: channelIds[n % channelIds.length],
          negated: true,
        })),
      ],
    }),
  },
  'GET /json/messages/:message_id': {
    'what anybody may read': ({ webPublicMessageId }) => ({ message_id: webPublicMessageId }),
  },
  'GET /messages/matches_narrow': {
    one: () => ({ msg_ids: [1], narrow: [] }),
    'thousands of messages': (surroundings) => ({ msg_ids: messageIds(surroundings, 1000), narrow: [] }),
    'fifty words in thousands of messages': (surroundings) => ({
      msg_ids: messageIds(surroundings, 1000),
      narrow: [{ operator: 'search', operand: FIFTY_WORDS, negated: true }],
    }),
  },
  'POST /messages/render': {
    'a text': () => ({ content: HOSTILE_TEXTS.mixed }),
  },
  'GET /messages/:message_id': {
    'a message': () => ({ message_id: 1 }),
  },
  'POST /messages/flags': {
    one: () => ({ messages: [1], op: 'add', flag: 'starred' }),
    starred: (surroundings) => ({ messages: messageIds(surroundings, 10_000), op: 'add', flag: 'starred' }),
    read: (surroundings) => ({ messages: messageIds(surroundings, 10_000), op: 'add', flag: 'read' }),
    unread: (surroundings) => ({ messages: messageIds(surroundings, 10_000), op: 'remove', flag: 'read' }),
  },
  'GET /messages/:message_id/history': {
    'a message of fifty long texts': async ({ post, organization, n }) => {
      const text = (version: number): string =>
        Array.from({ length: 1400 }, (_, index) => `w${(index * (version + 7)) % 9973}`).join(' ');
      const to = organization.channelIds.at(-1);
      const { id } = await post('/messages', { type: 'channel', to, topic: `texts ${n}`, content: text(0) });
      for (let version = 1; version <= 50; version++) {
        await post(`/messages/${id}`, { method: 'PATCH', content: text(version) });
      }
      return { message_id: id };
    },
  },
  'GET /messages/:message_id/read_receipts': {
    'a message to everybody': ({ n }) => ({ message_id: n + 1 }),
  },
  'POST /messages/:message_id/report': {
    'a long story': ({ n }) => ({ message_id: n + 1, report_type: 'other', description: lengthened('', 1000) }),
  },
  'POST /submessage': {
    'a long vote': async (surroundings) => ({
      message_id: await pollBy(surroundings),
      msg_type: 'widget',
      content: JSON.stringify({ type: 'vote', key: 'x'.repeat(9900), vote: 1 }),
    }),
  },
  'POST /zcommand': { 'another theme': ({ n }) => ({ command: n % 2 === 0 ? '/dark' : '/light' }) },
  'POST /typing': {
    'to many': (surroundings) => ({ op: 'start', to: peopleOf(surroundings) }),
    'in a channel': ({ organization: { channelIds } }) => ({
      op: 'start',
      type: 'stream',
      stream_id: channelIds[0],
      topic: lengthened('', 10_000),
    }),
  },
  'POST /messages/:message_id/typing': {
    'one message': async (surroundings) => ({ message_id: await pollBy(surroundings), op: 'start' }),
  },
  'PATCH /messages/:message_id': {
    'a topic': ({ organization, n }) => ({
      message_id: organization.size.messages - n,
      topic: `moved ${n}`,
      propagate_mode: 'change_all',
    }),
  },
  'DELETE /messages/:message_id': {
    'a new one': async (surroundings) => ({ message_id: await messageIn(surroundings, 'deleted soon') }),
    'one of many': ({ organization, n }) => ({ message_id: organization.size.messages - n }),
  },
  'POST /messages/flags/narrow': {
    one: () => ({ ...FEWEST, narrow: [], op: 'add', flag: 'starred' }),
    read: () => ({ ...LATEST, narrow: [], op: 'add', flag: 'read' }),
    ...narrowed({ ...LATEST, op: 'add', flag: 'starred' }),
  },
};
