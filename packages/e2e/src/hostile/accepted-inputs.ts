import { HOSTILE_TEXTS } from '@parley/testkit';
import type { LargeOrganization } from '../testing/large-organization.js';
import type { Fields } from './routes.js';

/** What a worst request is made of. */
export interface Surroundings {
  readonly organization: LargeOrganization;
  /** Different each time. */
  readonly n: number;
  /** Of an event queue of whoever calls. */
  readonly openQueue: () => Promise<string>;
  /** A custom profile field; answers its id. */
  readonly makeProfileField: () => Promise<number>;
  /** Of whoever calls, with these members; answers its id. */
  readonly makeGroup: (members: readonly number[]) => Promise<number>;
  /** Of whoever calls, to a message; answers what it is called by. */
  readonly react: () => Promise<Reacted>;
}

export interface Reacted extends Fields {
  readonly message_id: number;
  readonly emoji_name: string;
}

type Input = (surroundings: Surroundings) => Fields | Promise<Fields>;

const CHANNEL_PERMISSIONS = [
  'can_add_subscribers_group',
  'can_remove_subscribers_group',
  'can_administer_channel_group',
  'can_send_message_group',
  'can_subscribe_group',
];
const ALL_EVENTS = ['message', 'update_message_flags', 'subscription', 'stream', 'realm_user'];

const peopleOf = ({ organization: { owners, members } }: Surroundings): readonly number[] =>
  [...owners, ...members].map(({ id }) => id);
/** One request changes no more subscriptions: see docs/limits.md. */
const MAX_CHANGED_SUBSCRIPTIONS = 100_000;
const peopleForAllChannels = (surroundings: Surroundings): readonly number[] =>
  peopleOf(surroundings).slice(0, Math.floor(MAX_CHANGED_SUBSCRIPTIONS / surroundings.organization.channelIds.length));
const messageIds = ({ organization }: Surroundings, most: number): readonly number[] =>
  Array.from({ length: Math.min(most, organization.size.messages) }, (_, n) => n + 1);
const lengthened = (text: string, length: number) => text.padEnd(length, 'x');

const newChannels = ({ n }: Surroundings, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: lengthened(`New ${n} ${index} `, 60),
    description: lengthened('About ', 800),
  }));
const allChannels = ({ organization }: Surroundings) => organization.channelNames.map((name) => ({ name }));
const permissionsFor = (surroundings: Surroundings): Fields =>
  Object.fromEntries(
    CHANNEL_PERMISSIONS.map((name) => [name, { direct_members: peopleOf(surroundings), direct_subgroups: [] }]),
  );

/** Narrows as long as they may be, of terms that mean something. */
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

/** All negated, so that many messages are left. */
const narrowOf = (operator: string, operandOf: (n: number) => unknown): Fields => ({
  narrow: Array.from({ length: 100 }, (_, n) => ({ operator, operand: operandOf(n), negated: true })),
});

const narrowed = (fields: Fields): Readonly<Record<string, Input>> =>
  Object.fromEntries(
    Object.entries(NARROWS).map(([name, narrow]) => [
      name,
      async (surroundings: Surroundings) => ({ ...fields, ...(await narrow(surroundings)) }),
    ]),
  );

const owner: Input = ({ organization: { owners } }) => ({ user_id: owners[1]!.id, email: owners[1]!.email });
const firstChannel: Input = ({ organization: { channelIds } }) => ({ stream_id: channelIds[0], topic_name: 'topic 1' });

const LATEST = { anchor: 'newest', num_before: 5000, num_after: 0 };
const FEWEST = { anchor: 'newest', num_before: 1, num_after: 0 };

/** To everybody, and rendered. */
const saying =
  (content: string): Input =>
  ({ organization: { channelIds } }) => ({
    type: 'channel',
    to: channelIds[0],
    topic: lengthened('', 10_000),
    content,
  });

/**
 * For each operation, by its name, the worst requests that it accepts: what types do not tell, such as names that exist, and
 * numbers that go together. Each must succeed. What generated inputs vary is the first one, which costs little. An operation
 * whose parameters are all optional needs no entry.
 */
export const ACCEPTED_INPUTS: Readonly<Record<string, Readonly<Record<string, Input>>>> = {
  'POST /fetch_api_key': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /dev_fetch_api_key': {
    somebody: ({ organization: { owners } }) => ({ username: owners[0]!.email }),
  },
  'GET /users': {
    everybody: () => ({ client_gravatar: false, include_custom_profile_fields: true }),
    'everybody by id': (surroundings) => ({ client_gravatar: false, user_ids: peopleOf(surroundings) }),
  },
  'POST /users': {
    'somebody new': ({ n }) => ({
      email: `new${n}@elsinore.example`,
      password: `${n} Something is rotten ${n}`,
      full_name: lengthened(`New ${n} `, 100),
    }),
  },
  'GET /users/:user_id': { somebody: owner },
  'GET /users/:email': { somebody: owner },
  'PATCH /users/:user_id': {
    'a name': ({ organization: { members }, n }) => ({
      user_id: members[0]!.id,
      full_name: lengthened(`New ${n} `, 100),
    }),
    'a role': ({ organization: { members }, n }) => ({ user_id: members[1]!.id, role: n % 2 === 0 ? 600 : 300 }),
  },
  'PATCH /users/:email': {
    'a name': ({ organization: { members }, n }) => ({
      email: members[0]!.email,
      full_name: lengthened(`New ${n} `, 100),
    }),
  },
  'POST /realm/profile_fields': {
    'a text': ({ n }) => ({ field_type: 1, name: `Field ${n}` }),
  },
  'PATCH /realm/profile_fields': {
    'all that there may be': () => ({ order: Array.from({ length: 200 }, (_, place) => place + 1) }),
  },
  'PATCH /realm/profile_fields/:field_id': {
    'a name': async ({ makeProfileField, n }) => ({ field_id: await makeProfileField(), name: `Renamed ${n}` }),
  },
  'DELETE /realm/profile_fields/:field_id': {
    'an empty one': async ({ makeProfileField }) => ({ field_id: await makeProfileField() }),
  },
  'PATCH /users/me/profile_data': {
    'a value': async ({ makeProfileField, n }) => ({ data: [{ id: await makeProfileField(), value: `Value ${n}` }] }),
  },
  'DELETE /users/me/profile_data': {
    'a value': async ({ makeProfileField }) => ({ data: [await makeProfileField()] }),
  },
  'GET /user_groups': { 'all of them': () => ({ include_deactivated_groups: true }) },
  'POST /user_groups/create': {
    'a small one': ({ n }) => ({ name: `Small ${n}`, description: '', members: [] }),
    'one of everybody': (surroundings) => ({
      name: lengthened(`Group ${surroundings.n} `, 100),
      description: lengthened('', 1024),
      members: peopleOf(surroundings),
      can_join_group: { direct_members: peopleOf(surroundings), direct_subgroups: [] },
      can_manage_group: { direct_members: peopleOf(surroundings), direct_subgroups: [] },
    }),
  },
  'PATCH /user_groups/:user_group_id': {
    'a name': async ({ makeGroup, n }) => ({ user_group_id: await makeGroup([]), name: `Renamed ${n}` }),
    everything: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      name: lengthened(`Renamed ${surroundings.n} `, 100),
      description: lengthened('', 1024),
      can_mention_group: { new: { direct_members: peopleOf(surroundings), direct_subgroups: [] } },
    }),
  },
  'POST /user_groups/:user_group_id/deactivate': {
    'an empty one': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]) }),
    'one of everybody': async (surroundings) => ({
      user_group_id: await surroundings.makeGroup(peopleOf(surroundings)),
    }),
  },
  'GET /user_groups/:user_group_id/members': {
    'of everybody': async (surroundings) => ({ user_group_id: await surroundings.makeGroup(peopleOf(surroundings)) }),
  },
  'GET /user_groups/:user_group_id/members/:user_id': {
    somebody: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      user_id: peopleOf(surroundings)[0],
    }),
  },
  'GET /user_groups/:user_group_id/subgroups': {
    'of one': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]) }),
  },
  'POST /user_groups/:user_group_id/members': {
    'one more': async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      add: peopleOf(surroundings).slice(0, 1),
    }),
    everybody: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      add: peopleOf(surroundings),
      add_subgroups: [await surroundings.makeGroup(peopleOf(surroundings))],
    }),
  },
  'POST /user_groups/:user_group_id/subgroups': {
    'one more': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]), add: [await makeGroup([])] }),
  },
  'GET /streams': {
    'all of them': () => ({
      include_public: true,
      include_subscribed: true,
      include_all: true,
      include_default: true,
      exclude_archived: false,
    }),
  },
  'POST /channels/create': {
    'a small one': ({ n }) => ({ name: `Small ${n}`, subscribers: [] }),
    'one for everybody, with permissions for each of them': (surroundings) => ({
      ...permissionsFor(surroundings),
      name: lengthened(`Created ${surroundings.n} `, 60),
      description: lengthened('', 1024),
      subscribers: peopleOf(surroundings),
      announce: true,
    }),
  },
  'GET /users/me/subscriptions': {
    'with subscribers': () => ({ include_subscribers: 'true' }),
  },
  'POST /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ subscriptions: [{ name: organization.channelNames[0] }] }),
    'a thousand new channels': (surroundings) => ({ subscriptions: newChannels(surroundings, 1000) }),
    'new channels for everybody': (surroundings) => ({
      subscriptions: newChannels(surroundings, 20),
      principals: peopleOf(surroundings),
      announce: true,
    }),
    'new channels with permissions': (surroundings) => ({
      ...permissionsFor(surroundings),
      subscriptions: newChannels(surroundings, 50),
    }),
    'all channels': (surroundings) => ({ subscriptions: allChannels(surroundings) }),
    'all channels for everybody': (surroundings) => ({
      subscriptions: allChannels(surroundings),
      principals: peopleForAllChannels(surroundings),
    }),
  },
  'DELETE /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ subscriptions: [organization.channelNames[0]] }),
    'all channels': ({ organization }) => ({ subscriptions: organization.channelNames }),
    'all channels for everybody': (surroundings) => ({
      subscriptions: surroundings.organization.channelNames,
      principals: peopleForAllChannels(surroundings),
    }),
  },
  'GET /get_stream_id': {
    'a channel': ({ organization }) => ({ stream: organization.channelNames[0] }),
  },
  'GET /users/me/:stream_id/topics': { 'a channel': firstChannel },
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
    'to everybody, mentioned': saying(`@**all** ${HOSTILE_TEXTS.at3}`.slice(0, 10_000)),
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
  'POST /messages/:message_id/reactions': {
    'a vote': ({ n }) => ({ message_id: n + 1, emoji_name: 'smile' }),
  },
  'DELETE /messages/:message_id/reactions': {
    'a vote': ({ react }) => react(),
  },
  'POST /messages/flags/narrow': {
    one: () => ({ ...FEWEST, narrow: [], op: 'add', flag: 'starred' }),
    read: () => ({ ...LATEST, narrow: [], op: 'add', flag: 'read' }),
    ...narrowed({ ...LATEST, op: 'add', flag: 'starred' }),
  },
  'POST /mark_stream_as_read': { 'a channel': firstChannel },
  'POST /mark_topic_as_read': { 'a topic': firstChannel },
  'POST /register': {
    'a bot': () => ({ event_types: ['message'], fetch_event_types: [] }),
    everything: () => ({}),
    'everything, with subscribers': () => ({
      include_subscribers: 'true',
      client_gravatar: false,
      apply_markdown: true,
    }),
    'with a narrow': ({ organization: { channelNames } }) => ({
      event_types: ALL_EVENTS,
      narrow: Array.from({ length: 60 }, (_, n) => ['channel', channelNames[n % channelNames.length]]),
    }),
  },
  'GET /events': {
    'what there is': async ({ openQueue }) => ({ queue_id: await openQueue(), last_event_id: -1, dont_block: true }),
  },
  'DELETE /events': {
    'a queue': async ({ openQueue }) => ({ queue_id: await openQueue() }),
  },
  'GET /user_avatars/:realm_id/:file': {
    'a large one': () => ({ realm_id: 1, file: '1-medium.png' }),
  },
  'GET /user_avatars/:realm_id/realm/icon.png': {
    'an icon': () => ({ realm_id: 1 }),
  },
};
