import { blackPng, HOSTILE_TEXTS, signJsonWebToken } from '@parley/testkit';
import type { LargeOrganization } from '../testing/large-organization.js';
import { Bytes, FormFile, Header } from './encode.js';
import type { Fields } from './routes.js';

/** What an input may refer to, and make beforehand. */
export interface InputContext {
  readonly organization: LargeOrganization;
  /** What anybody may read. */
  readonly webPublicMessageId: number;
  readonly webPublicChannelId: number;
  /** Different each time. */
  readonly n: number;
  /** Of an event queue of whoever calls. */
  readonly openQueue: () => Promise<string>;
  /** Somebody who may be deactivated, by id. */
  readonly aMember: () => number;
  /** A custom profile field; answers its id. */
  readonly makeProfileField: () => Promise<number>;
  /** Of whoever calls, with these members; answers its id. */
  readonly makeGroup: (members: readonly number[]) => Promise<number>;
  /** Of whoever calls, to a message; answers what it is called by. */
  readonly react: () => Promise<Reacted>;
  /** Of whoever calls; answers its id. */
  readonly addBot: () => Promise<number>;
  /** Made by whoever calls; answers its id. */
  readonly makeChannel: (name: string) => Promise<number>;
  /** Of whoever calls; answers its id. */
  readonly addDevice: () => Promise<number>;
  /** The same, known to the push service. */
  readonly registerDevice: () => Promise<number>;
  /** Of whoever calls, in the way of older apps; answers it. */
  readonly addToken: (kind: 'apns' | 'fcm') => Promise<string>;
  /** A file of whoever calls; answers its id and what its address ends in. */
  readonly upload: () => Promise<{ readonly id: number; readonly path: string }>;
  /** An image of whoever calls; answers what the address of a thumbnail ends in, which is there. */
  readonly uploadImage: (image: Buffer) => Promise<string>;
  /** With the headers of its first request; answers what its address ends in. */
  readonly beginUpload: (headers: Fields) => Promise<string>;
  /** Sends the form of a page, without credentials. */
  readonly sendForm: (path: string, fields: Fields) => Promise<unknown>;
  /** The key of the link in the newest letter to an address. */
  readonly keyMailedTo: (email: string) => Promise<string>;
  /** Adds an animated emoji as the caller. */
  readonly addEmoji: () => Promise<{ readonly id: string; readonly name: string }>;
  /** A successful GET of whoever calls; answers its fields. */
  readonly get: (path: string) => Promise<Fields>;
  /** A successful POST of whoever calls; answers its fields. */
  readonly post: (path: string, fields: Fields) => Promise<Fields>;
}

export interface Reacted extends Fields {
  readonly message_id: number;
  readonly emoji_name: string;
}

/** Of a device, as long as it may be. */
export const PUSH_REGISTRATION = {
  push_key_id: 4_294_967_295,
  push_key: Buffer.from('1'.repeat(33)).toString('base64'),
  token_kind: 'apns',
  token_id: 'AAAAAAAAAAA=',
  bouncer_public_key: 'x'.repeat(44),
  encrypted_push_registration: 'x'.repeat(7000),
};

/** As many as an image may have. */
const MANY_PIXELS = blackPng(9000, 9000);

const LARGE_FILE = Buffer.alloc(20 * 1024 * 1024);
const TUS: Fields = { 'Tus-Resumable': new Header('1.0.0') };
/** Of a resumable upload. */
const startOf = (size: number, name = 'a.txt'): Fields => ({
  ...TUS,
  'Upload-Length': new Header(String(size)),
  'Upload-Metadata': new Header(`filename ${Buffer.from(name).toString('base64')}`),
});
const partAt = (offset: number): Fields => ({ ...TUS, 'Upload-Offset': new Header(String(offset)) });

type Input = (surroundings: InputContext) => Fields | Promise<Fields>;

const CHANNEL_PERMISSIONS = [
  'can_add_subscribers_group',
  'can_remove_subscribers_group',
  'can_administer_channel_group',
  'can_send_message_group',
  'can_subscribe_group',
];
const ALL_EVENTS = ['message', 'update_message_flags', 'subscription', 'stream', 'realm_user'];

const peopleOf = ({ organization: { owners, members } }: InputContext): readonly number[] =>
  [...owners, ...members].map(({ id }) => id);
/** One request changes no more subscriptions: see docs/limits.md. */
const MAX_CHANGED_SUBSCRIPTIONS = 100_000;
const peopleForAllChannels = (surroundings: InputContext): readonly number[] =>
  peopleOf(surroundings).slice(0, Math.floor(MAX_CHANGED_SUBSCRIPTIONS / surroundings.organization.channelIds.length));
const messageIds = ({ organization }: InputContext, most: number): readonly number[] =>
  Array.from({ length: Math.min(most, organization.size.messages) }, (_, n) => n + 1);
const lengthened = (text: string, length: number) => text.padEnd(length, 'x');

const newChannels = ({ n }: InputContext, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: lengthened(`New ${n} ${index} `, 60),
    description: lengthened('About ', 800),
  }));
const allChannels = ({ organization }: InputContext) => organization.channelNames.map((name) => ({ name }));
const permissionsFor = (surroundings: InputContext): Fields =>
  Object.fromEntries(
    CHANNEL_PERMISSIONS.map((name) => [name, { direct_members: peopleOf(surroundings), direct_subgroups: [] }]),
  );

/** Whose permissions name no more people together: see docs/limits.md. */
const channelsWithPermissions = (surroundings: InputContext): number =>
  Math.floor(100_000 / (CHANNEL_PERMISSIONS.length * peopleOf(surroundings).length));

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
      async (surroundings: InputContext) => ({ ...fields, ...(await narrow(surroundings)) }),
    ]),
  );

async function pollBy({ organization: { channelIds }, n, post }: InputContext): Promise<unknown> {
  return (await post('/messages', { type: 'channel', to: channelIds[0], topic: 'polls', content: `/poll ${n}` })).id;
}

/** As many as a narrow may search for. */
const FIFTY_WORDS = Array.from({ length: 50 }, (_, n) => `word${n}`).join(' ');
const searches = (fields: Fields): Readonly<Record<string, Input>> => ({
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

const owner: Input = ({ organization: { owners } }) => ({ user_id: owners[1]!.id, email: owners[1]!.email });
const ownerInChannel: Input = ({ organization: { owners, channelIds } }) => ({
  user_id: owners[1]!.id,
  stream_id: channelIds[0],
});
const firstChannel: Input = ({ organization: { channelIds } }) => ({ stream_id: channelIds[0], topic_name: 'topic 1' });

const draftFor = ({ organization: { channelIds } }: InputContext, content: string): Fields => ({
  type: 'stream',
  to: [channelIds.at(-1)],
  topic: 'x',
  content,
});
async function draftOf(surroundings: InputContext): Promise<Fields> {
  const { ids } = await surroundings.post('/drafts', { drafts: [draftFor(surroundings, 'x')] });
  return { draft_id: (ids as number[])[0] };
}
async function snippetOf({ post }: InputContext): Promise<Fields> {
  const { saved_snippet_id } = await post('/saved_snippets', { title: 'x', content: 'x' });
  return { saved_snippet_id };
}
async function viewOf({ post, n }: InputContext): Promise<Fields> {
  const fragment = `narrow/made/${n}/${Math.random()}`;
  await post('/navigation_views', { fragment, is_pinned: false, name: fragment });
  return { fragment };
}

const IN_AN_HOUR = Math.floor(Date.now() / 1000) + 3600;
const inAnHour = ({ organization: { channelIds } }: InputContext, content: string): Fields => ({
  type: 'channel',
  to: channelIds.at(-1),
  topic: 'x',
  content,
  scheduled_delivery_timestamp: IN_AN_HOUR,
});
const scheduled = async (surroundings: InputContext): Promise<Fields> => {
  const { scheduled_message_id } = await surroundings.post('/scheduled_messages', inAnHour(surroundings, 'x'));
  return { scheduled_message_id };
};
const reminderOf = (message_id: number, note: string): Fields => ({
  message_id,
  scheduled_delivery_timestamp: IN_AN_HOUR,
  note,
});

/** Answers its id. */
const messageIn = async ({ post, organization }: InputContext, topic: string): Promise<unknown> => {
  const { id } = await post('/messages', { type: 'channel', to: organization.channelIds[0], topic, content: 'x' });
  return id;
};

const LATEST = { anchor: 'newest', num_before: 5000, num_after: 0 };
const FEWEST = { anchor: 'newest', num_before: 1, num_after: 0 };

/** To which whoever calls is subscribed, whatever other requests have done. */
async function ownChannel({ organization: { channelIds, channelNames }, post }: InputContext): Promise<Fields> {
  await post('/users/me/subscriptions', { subscriptions: [{ name: channelNames[0] }] });
  return { stream_id: channelIds[0] };
}

/** The operation that makes one does not answer its id. */
async function defaultGroup({ n, post }: InputContext): Promise<number> {
  const name = `Made ${n}`;
  await post('/default_stream_groups/create', { group_name: name, description: '', stream_names: [] });
  const { realm_default_stream_groups: groups } = await post('/register', { event_types: ['default_stream_groups'] });
  return (groups as { id: number; name: string }[]).find((group) => group.name === name)!.id;
}

/** To everybody, and rendered. */
const saying =
  (content: string): Input =>
  ({ organization: { channelIds } }) => ({
    type: 'channel',
    to: channelIds[0],
    topic: lengthened('', 10_000),
    content,
  });

async function newDomain({ n, post }: InputContext, fields: Fields = {}): Promise<Fields> {
  const domain = `d${n}.example.com`;
  await post('/realm/domains', { domain, allow_subdomains: true });
  return { domain, ...fields };
}

const listed = async ({ get }: InputContext, isLink: boolean): Promise<Fields> => {
  const { invites } = await get('/invites');
  const all = invites as { readonly id: number; readonly is_multiuse: boolean }[];
  return { invite_id: all.filter(({ is_multiuse }) => is_multiuse === isLink).at(-1)!.id };
};
async function newLetter(surroundings: InputContext): Promise<Fields> {
  await surroundings.post('/invites', { invitee_emails: `l${surroundings.n}@example.com`, stream_ids: [] });
  return listed(surroundings, false);
}
async function newLink(surroundings: InputContext): Promise<Fields> {
  await surroundings.post('/invites/multiuse', {});
  return listed(surroundings, true);
}

const joining = ({ n }: InputContext, prefix: string): Fields => ({
  email: `${prefix}${n}@example.com`,
  full_name: `Joined ${prefix} ${n}`,
  password: `${n} Something is rotten ${n}`,
});

/** The key of a link that confirms another spelling of the caller's address. */
async function newAddress({ get, post, keyMailedTo }: InputContext): Promise<Fields> {
  const { delivery_email } = await get('/users/me');
  const before = String(delivery_email);
  const email = before === before.toLowerCase() ? before.toUpperCase() : before.toLowerCase();
  await post('/settings', { method: 'PATCH', email });
  return { key: await keyMailedTo(email) };
}

async function forgottenPassword({ n, organization, sendForm, keyMailedTo }: InputContext): Promise<Fields> {
  const { email } = organization.members.at(-1 - (n % 100))!;
  await sendForm('/accounts/password/reset/', { email });
  return { key: await keyMailedTo(email) };
}

async function linkToAllChannels({ post, organization: { channelIds } }: InputContext): Promise<Fields> {
  const { invite_link: link } = await post('/invites/multiuse', { stream_ids: channelIds.slice(0, 1000) });
  return { key: String(link).split('/').at(-2) };
}

/** As long as it may be, and quick to match. */
const linkifier = (n: number): Fields => ({
  pattern: lengthened(`L${n}-(?P<id>[0-9]+)`, 1000),
  url_template: lengthened('https://example.com/{id}/', 1000),
  alternative_url_templates: Array.from({ length: 20 }, () => lengthened('https://example.com/{id}/', 1000)),
});
const newLinkifier = async ({ n, post }: InputContext): Promise<Fields> => ({
  filter_id: (await post('/realm/filters', linkifier(n))).id,
  ...linkifier(n + 1_000_000),
});
const playground = (n: number): Fields => ({
  name: lengthened(`Play ${n} `, 1000),
  pygments_language: 'Python',
  url_template: lengthened('https://example.com/{code}', 1000),
});

/** Of tokens for the organization. */
export const JWT_SECRET = 'what a test shares with another service';

/** What needs a provider of calls that no server has (organization §20), and exports, which have a test of their own. */
export const NEVER_ACCEPTED: ReadonlySet<string> = new Set([
  'POST /calls/zoom/create',
  'POST /calls/constructorgroups/create',
  'POST /calls/nextcloud_talk/create',
  'POST /calls/webex/create',
  'POST /export/realm',
  'DELETE /export/realm/:export_id',
  'GET /user_avatars/exports/*path_id',
]);

/**
 * For each operation, by its name, the worst requests that it accepts: what types do not tell, such as names that exist, and
 * numbers that go together. Each must succeed. What generated inputs vary is the first one, which costs little. An operation
 * whose parameters are all optional needs no entry.
 */
export const ACCEPTED_INPUTS: Readonly<Record<string, Readonly<Record<string, Input>>>> = {
  'POST /fetch_api_key': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /jwt/fetch_api_key': {
    'a token': ({ organization: { owners } }) => ({
      token: signJsonWebToken({ email: owners[0]!.email, more: 'x'.repeat(7000) }, JWT_SECRET),
      include_profile: true,
    }),
  },
  'POST /accounts/login/': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /json/fetch_api_key': { 'right password': ({ organization: { password } }) => ({ password }) },
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
  'DELETE /users/:user_id': {
    somebody: ({ aMember }) => ({ user_id: aMember() }),
    'somebody, with many words': ({ aMember }) => ({
      user_id: aMember(),
      deactivation_notification_comment: lengthened('', 2000),
    }),
  },
  'POST /users/:user_id/reactivate': {
    somebody: ({ aMember }) => ({ user_id: aMember() }),
  },
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
    'everybody, whom it lets see many private channels': async (surroundings) => {
      const user_group_id = await surroundings.makeGroup([]);
      await surroundings.post('/users/me/subscriptions', {
        subscriptions: newChannels(surroundings, 200).map(({ name }) => ({ name })),
        invite_only: true,
        can_subscribe_group: user_group_id,
      });
      return { user_group_id, add: peopleOf(surroundings) };
    },
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
  'GET /streams/:stream_id': { 'a channel': firstChannel },
  'GET /streams/:stream_id/members': { 'of a large one': firstChannel },
  'GET /streams/:stream_id/email_address': { 'a channel': firstChannel },
  'GET /users/:user_id/subscriptions/:stream_id': { somebody: ownerInChannel },
  'GET /users/:user_id/channels': { somebody: owner },
  'PATCH /streams/:stream_id': {
    'a small one': async ({ makeChannel, n }) => ({ stream_id: await makeChannel(`Small ${n}`), description: 'x' }),
    'a description': async ({ organization: { channelIds }, n, post }) => {
      // It may be what reports go to by now, which would have to be private.
      await post('/realm', { method: 'PATCH', moderation_request_channel_id: -1 });
      return { stream_id: channelIds[0], description: `About ${n}` };
    },
    'everything of the largest one, with permissions for everybody': (surroundings) => {
      const { organization, n } = surroundings;
      const permissions = Object.entries(permissionsFor(surroundings));
      return {
        stream_id: organization.channelIds[1],
        new_name: lengthened(`Changed ${n} `, 60),
        description: lengthened(`${n} `, 1024),
        is_private: n % 2 === 0,
        topics_policy: n % 2 === 0 ? 'inherit' : 'disable_empty_topic',
        message_retention_days: n + 1,
        ...Object.fromEntries(permissions.map(([name, value]) => [name, { new: value }])),
      };
    },
  },
  'DELETE /streams/:stream_id': {
    'a channel': async ({ n, makeChannel }) => ({ stream_id: await makeChannel(`Archived ${n}`) }),
  },
  'POST /default_streams': { 'a channel': firstChannel },
  'DELETE /default_streams': { 'a channel': firstChannel },
  'POST /default_stream_groups/create': {
    'a small one': ({ n }) => ({ group_name: `Group ${n}`, description: '', stream_names: [] }),
    'of all channels': ({ n, organization: { channelNames } }) => ({
      group_name: lengthened(`Group ${n} `, 60),
      description: lengthened('', 1024),
      stream_names: channelNames.slice(1),
    }),
  },
  'PATCH /default_stream_groups/:group_id': {
    'its description': async (surroundings) => ({
      group_id: await defaultGroup(surroundings),
      new_description: lengthened('', 1024),
    }),
  },
  'PATCH /default_stream_groups/:group_id/streams': {
    'all channels': async (surroundings) => ({
      group_id: await defaultGroup(surroundings),
      op: 'add',
      stream_names: surroundings.organization.channelNames.slice(1),
    }),
  },
  'DELETE /default_stream_groups/:group_id': {
    'a small one': async (surroundings) => ({ group_id: await defaultGroup(surroundings) }),
  },
  'POST /channel_folders/create': {
    'a folder': ({ n }) => ({ name: lengthened(`Folder ${n} `, 60), description: lengthened('*all* ', 1024) }),
  },
  'PATCH /channel_folders': {
    'in any order': () => ({ order: Array.from({ length: 10_000 }, (_, index) => index + 1) }),
  },
  'PATCH /channel_folders/:channel_folder_id': {
    'everything of it': async ({ n, post }) => {
      const { channel_folder_id } = await post('/channel_folders/create', { name: `Changed ${n}` });
      return { channel_folder_id, name: `To ${n}`, description: lengthened('*all* ', 1024), is_archived: true };
    },
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
      subscriptions: newChannels(surroundings, channelsWithPermissions(surroundings)),
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
  'PATCH /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ add: [{ name: organization.channelNames[0] }] }),
    'all channels, there and back': (surroundings) => ({
      add: allChannels(surroundings),
      delete: surroundings.organization.channelNames,
    }),
  },
  'POST /users/me/subscriptions/properties': {
    'of one': async (surroundings) => ({
      subscription_data: [{ ...(await ownChannel(surroundings)), property: 'is_muted', value: true }],
    }),
    'a thousand': async (surroundings) => {
      const channel = await ownChannel(surroundings);
      const change = (n: number) => ({ ...channel, property: 'is_muted', value: n % 2 === 0 });
      return { subscription_data: Array.from({ length: 1000 }, (_, n) => change(n)) };
    },
  },
  'PATCH /users/me/subscriptions/:stream_id': {
    'of one': async (surroundings) => ({ ...(await ownChannel(surroundings)), property: 'color', value: '#123456' }),
  },
  'PATCH /users/me/subscriptions/muted_topics': {
    'a topic': ({ organization: { channelIds }, n }) => ({ stream_id: channelIds[0], topic: `${n}`, op: 'add' }),
  },
  'POST /user_topics': {
    'a topic': ({ organization: { channelIds }, n }) => ({
      stream_id: channelIds[0],
      topic: `${n}`,
      visibility_policy: 3,
    }),
  },
  'GET /get_stream_id': {
    'a channel': ({ organization }) => ({ stream: organization.channelNames[0] }),
  },
  'GET /users/me/:stream_id/topics': { 'a channel': firstChannel },
  'GET /json/users/me/:stream_id/topics': {
    'a web-public one': ({ webPublicChannelId }) => ({ stream_id: webPublicChannelId }),
  },
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
  'GET /calls/bigbluebutton/create': {
    'a long name': ({ n }) => ({ meeting_name: lengthened(`Meeting ${n} `, 512), voice_only: true }),
  },
  'GET /calls/bigbluebutton/join': {
    'a long name': async ({ n, get }) => {
      const name = encodeURIComponent(lengthened(`Meeting ${n} `, 512));
      const { url } = await get(`/calls/bigbluebutton/create?meeting_name=${name}`);
      return { bigbluebutton: new URL(String(url), 'http://localhost').searchParams.get('bigbluebutton') };
    },
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
  'POST /messages/:message_id/reactions': {
    'a vote': ({ n }) => ({ message_id: n + 1, emoji_name: 'smile' }),
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
  'POST /streams/:stream_id/delete_topic': {
    'a new one': async (surroundings) => {
      await messageIn(surroundings, 'new');
      return { stream_id: surroundings.organization.channelIds[0], topic_name: 'new' };
    },
    'a topic': ({ organization: { channelIds } }) => ({ stream_id: channelIds[0], topic_name: 'topic 50' }),
  },
  'DELETE /messages/:message_id/reactions': {
    'a vote': ({ react }) => react(),
  },
  'POST /drafts': {
    one: (surroundings) => ({ drafts: [draftFor(surroundings, 'x')] }),
    many: (surroundings) => ({ drafts: Array(1000).fill(draftFor(surroundings, 'x'.repeat(700))) }),
  },
  'PATCH /drafts/:draft_id': {
    'a long one': async (surroundings) => ({
      ...(await draftOf(surroundings)),
      draft: draftFor(surroundings, 'x'.repeat(900_000)),
    }),
  },
  'DELETE /drafts/:draft_id': { one: draftOf },
  'POST /user_uploads': {
    'a large file': () => ({ file: new FormFile('x'.repeat(255), LARGE_FILE) }),
  },
  'GET /user_uploads/:realm_id/*filename': {
    'a file': async ({ upload }) => {
      const [realm_id, ...rest] = (await upload()).path.split('/');
      return { realm_id, filename: rest.join('/') };
    },
  },
  'GET /user_uploads/temporary/:token/:name': {
    'a file': async ({ upload, get }) => {
      const { path } = await upload();
      const [token, name] = String((await get(`/user_uploads/${path}`)).url)
        .split('/')
        .slice(-2);
      return { token, name };
    },
  },
  'GET /user_uploads/*path_id': { 'a file': async ({ upload }) => ({ path_id: (await upload()).path }) },
  'GET /user_uploads/download/*path_id': { 'a file': async ({ upload }) => ({ path_id: (await upload()).path }) },
  'GET /user_uploads/thumbnail/*path_id_and_format': {
    'of a large image': async ({ uploadImage }) => ({ path_id_and_format: await uploadImage(MANY_PIXELS) }),
  },
  'POST /tus': { 'a large file': () => ({ ...startOf(LARGE_FILE.length), body: new Bytes(LARGE_FILE) }) },
  'POST /tus/': {
    'a long name': () => startOf(1, 'x'.repeat(2900)),
    'a large file': () => ({ ...startOf(LARGE_FILE.length), body: new Bytes(LARGE_FILE) }),
  },
  'GET /tus/*path_id': { one: async ({ beginUpload }) => ({ ...TUS, path_id: await beginUpload(startOf(1)) }) },
  'PATCH /tus/*path_id': {
    'an empty part': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(1)),
      body: new Bytes(Buffer.alloc(0)),
    }),
    'a large part': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(LARGE_FILE.length + 1)),
      body: new Bytes(LARGE_FILE),
    }),
    'all of a large file': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(LARGE_FILE.length)),
      body: new Bytes(LARGE_FILE),
    }),
  },
  'DELETE /tus/*path_id': { one: async ({ beginUpload }) => ({ ...TUS, path_id: await beginUpload(startOf(1)) }) },
  'DELETE /attachments/:attachment_id': { one: async ({ upload }) => ({ attachment_id: (await upload()).id }) },
  'POST /saved_snippets': {
    'a long one': () => ({ title: 'x'.repeat(60), content: 'x'.repeat(10_000) }),
  },
  'PATCH /saved_snippets/:saved_snippet_id': {
    'a new text': async (surroundings) => ({ ...(await snippetOf(surroundings)), content: 'x'.repeat(10_000) }),
  },
  'DELETE /saved_snippets/:saved_snippet_id': { one: snippetOf },
  'POST /navigation_views': {
    one: ({ n }) => ({ fragment: `narrow/${n}`, is_pinned: true, name: `View ${n}` }),
  },
  'PATCH /navigation_views/*fragment': {
    'a new name': async (surroundings) => ({ ...(await viewOf(surroundings)), name: `Renamed ${surroundings.n}` }),
  },
  'DELETE /navigation_views/*fragment': { one: viewOf },
  'POST /users/me/muted_users/:muted_user_id': {
    'who has written': ({ n, organization: { members } }) => ({ muted_user_id: members[n % members.length]!.id }),
  },
  'DELETE /users/me/muted_users/:muted_user_id': {
    'a muted one': async ({ post, n, organization: { members } }) => {
      const muted_user_id = members[(n * 7 + 3) % members.length]!.id;
      await post(`/users/me/muted_users/${muted_user_id}`, {});
      return { muted_user_id };
    },
  },
  'POST /users/me/alert_words': {
    many: () => ({ alert_words: Array.from({ length: 500 }, (_, n) => lengthened(`${n} `, 100)) }),
  },
  'DELETE /users/me/alert_words': {
    many: () => ({ alert_words: Array.from({ length: 500 }, (_, n) => lengthened(`${n} `, 100)) }),
  },
  'POST /users/me/onboarding_steps': {
    one: () => ({ onboarding_step: 'intro_inbox_view_modal' }),
  },
  'POST /users/me/status': { 'a text and an emoji': () => ({ status_text: 'x'.repeat(60), emoji_name: 'smile' }) },
  'GET /users/:user_id/status': { somebody: owner },
  'POST /users/:user_id/status': { somebody: (surroundings) => ({ ...owner(surroundings), status_text: 'busy' }) },
  'POST /users/me/presence': {
    active: () => ({ status: 'active', last_update_id: -1 }),
    'in the old form': () => ({ status: 'idle', history_limit_days: 10_000 }),
  },
  'GET /users/:user_id_or_email/presence': {
    somebody: async ({ get, post }) => {
      await post('/users/me/presence', { status: 'active', ping_only: true });
      return { user_id_or_email: (await get('/users/me')).user_id };
    },
  },
  'POST /bots': {
    'an outgoing webhook': ({ n, organization: { channelNames } }) => ({
      full_name: lengthened(`Bot ${n} `, 100),
      short_name: `bot${n}`,
      bot_type: 3,
      payload_url: JSON.stringify(`https://example.com/${'x'.repeat(1900)}`),
      default_sending_stream: channelNames[0],
      default_events_register_stream: channelNames[1],
    }),
  },
  'PATCH /bots/:bot_id': {
    'a new one': async ({ addBot, n }) => ({ bot_id: await addBot(), full_name: `Renamed ${n}`, role: 100 }),
  },
  'DELETE /bots/:bot_id': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'GET /bots/:bot_id/api_key': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'POST /bots/:bot_id/api_key/regenerate': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'POST /remove_client_device': {
    'a new one': async ({ addDevice }) => ({ device_id: await addDevice() }),
  },
  'POST /mobile_push/register': {
    'a key and a token': async ({ addDevice }) => ({ ...PUSH_REGISTRATION, device_id: await addDevice() }),
  },
  'POST /mobile_push/e2ee/test_notification': {
    'one device': async ({ registerDevice }) => ({ device_id: await registerDevice() }),
  },
  'POST /users/me/apns_device_token': {
    'a long one': ({ n }) => ({ token: `${n}`.padStart(4096, '0'), appid: 'x'.repeat(255) }),
  },
  'DELETE /users/me/apns_device_token': {
    'a long one': async ({ addToken }) => ({ token: await addToken('apns') }),
  },
  'POST /users/me/android_gcm_reg_id': { 'a long one': ({ n }) => ({ token: `${n}`.padStart(4096, '0') }) },
  'DELETE /users/me/android_gcm_reg_id': {
    'a long one': async ({ addToken }) => ({ token: await addToken('fcm') }),
  },
  'PUT /bot_storage': {
    'one text': () => ({ storage: { key: 'value' } }),
    'a long text': () => ({ storage: { key: 'x'.repeat(900_000) } }),
    'ten thousand texts': ({ n }) => ({
      storage: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${n} ${index}`, 'x'.repeat(50)])),
    }),
  },
  'POST /scheduled_messages': {
    'a small one': (surroundings) => inAnHour(surroundings, 'x'),
    'a long one': (surroundings) => inAnHour(surroundings, HOSTILE_TEXTS.mixed!),
    'to everybody by id': (surroundings) => ({
      ...inAnHour(surroundings, HOSTILE_TEXTS.words!),
      type: 'direct',
      to: peopleOf(surroundings),
    }),
  },
  'PATCH /scheduled_messages/:scheduled_message_id': {
    'a new time': async (surroundings) => ({
      ...(await scheduled(surroundings)),
      scheduled_delivery_timestamp: IN_AN_HOUR + 1,
    }),
    'a long text': async (surroundings) => ({ ...(await scheduled(surroundings)), content: HOSTILE_TEXTS.mixed }),
  },
  'DELETE /scheduled_messages/:scheduled_message_id': { one: scheduled },
  'POST /reminders': {
    'of a message': ({ n }) => reminderOf(n + 1, 'x'.repeat(1000)),
  },
  'DELETE /reminders/:reminder_id': {
    one: async ({ post, n }) => {
      const { reminder_id } = await post('/reminders', reminderOf(n + 1, ''));
      return { reminder_id };
    },
  },
  'POST /messages/flags/narrow': {
    one: () => ({ ...FEWEST, narrow: [], op: 'add', flag: 'starred' }),
    read: () => ({ ...LATEST, narrow: [], op: 'add', flag: 'read' }),
    ...narrowed({ ...LATEST, op: 'add', flag: 'starred' }),
  },
  'GET /json/realm/subdomain/:subdomain': { 'a name': ({ n }) => ({ subdomain: `free-${n}` }) },
  'POST /invites': {
    'one person': ({ n }) => ({ invitee_emails: `i${n}@example.com`, stream_ids: [] }),
    'three hundred, into all channels': ({ n, organization: { channelIds } }) => ({
      invitee_emails: Array.from({ length: 300 }, (_, index) => `i${n}-${index}@example.com`).join(','),
      stream_ids: channelIds.slice(0, 1000),
      invite_as: 400,
    }),
  },
  'POST /invites/accept': {
    'by a link into all channels': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      ...joining(surroundings, 'j'),
    }),
  },
  'POST /accounts/register/': {
    'by a link into all channels': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      ...joining(surroundings, 'r'),
    }),
  },
  'GET /join/:key/': { 'a link': linkToAllChannels },
  'POST /join/:key/': {
    'a link': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      email: `l${surroundings.n}@example.com`,
    }),
  },
  'POST /register/': {
    somebody: async ({ n, post }) => {
      await post('/realm', { method: 'PATCH', invite_required: false });
      return { email: `o${n}@example.com` };
    },
  },
  'GET /accounts/do_confirm/:key': { 'a link': linkToAllChannels },
  'GET /accounts/confirm_new_email/:key': { 'a letter': newAddress },
  'POST /accounts/confirm_new_email/:key': { 'a letter': newAddress },
  'POST /accounts/password/reset/': { nobody: ({ n }) => ({ email: `n${n}@example.com` }) },
  'GET /accounts/password/reset/:key': { 'a letter': forgottenPassword },
  'POST /accounts/password/reset/:key': {
    'a letter': async (surroundings) => ({
      ...(await forgottenPassword(surroundings)),
      password: `${surroundings.n} Something is rotten ${surroundings.n}`,
    }),
  },
  'DELETE /invites/:invite_id': { 'a letter': (surroundings) => newLetter(surroundings) },
  'POST /invites/:invite_id/resend': { 'a letter': (surroundings) => newLetter(surroundings) },
  'DELETE /invites/multiuse/:invite_id': { 'a link': (surroundings) => newLink(surroundings) },
  'POST /realm/test_welcome_bot_custom_message': {
    'a text': () => ({ welcome_message_custom_text: HOSTILE_TEXTS.mixed!.slice(0, 8000) }),
  },
  'POST /realm/domains': { 'a domain': ({ n }) => ({ domain: `d${n}.example.com`, allow_subdomains: true }) },
  'PATCH /realm/domains/:domain': {
    'a domain': (surroundings) => newDomain(surroundings, { allow_subdomains: false }),
  },
  'DELETE /realm/domains/:domain': { 'a domain': (surroundings) => newDomain(surroundings) },
  'POST /realm/filters': { 'a linkifier': ({ n }) => linkifier(n) },
  'PATCH /realm/filters/:filter_id': { 'a linkifier': (surroundings) => newLinkifier(surroundings) },
  'DELETE /realm/filters/:filter_id': { 'a linkifier': (surroundings) => newLinkifier(surroundings) },
  'PATCH /realm/linkifiers': {
    'all of them': async ({ post }) => {
      const { realm_linkifiers: linkifiers } = await post('/register', {
        event_types: [],
        fetch_event_types: ['realm_linkifiers'],
        client_capabilities: { notification_settings_null: true, linkifier_url_template: true },
      });
      return { ordered_linkifier_ids: (linkifiers as { readonly id: number }[]).map(({ id }) => id).reverse() };
    },
  },
  'POST /realm/playgrounds': { 'a playground': ({ n }) => playground(n) },
  'DELETE /realm/playgrounds/:playground_id': {
    'a playground': async ({ n, post }) => ({ playground_id: (await post('/realm/playgrounds', playground(n))).id }),
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
  'POST /users/me/avatar': { 'many pixels': () => ({ file: new FormFile('a.png', MANY_PIXELS) }) },
  'GET /avatar/:user_id': { 'somebody’s': (surroundings) => ({ user_id: peopleOf(surroundings)[0] }) },
  'GET /avatar/:user_id/medium': { 'somebody’s': (surroundings) => ({ user_id: peopleOf(surroundings)[0] }) },
  'POST /realm/icon': { 'many pixels': () => ({ file: new FormFile('a.png', MANY_PIXELS) }) },
  'GET /realm/logo': { 'for the night': () => ({ night: true }) },
  'POST /realm/logo': { 'many pixels': () => ({ night: false, file: new FormFile('a.png', MANY_PIXELS) }) },
  'DELETE /realm/logo': { 'for the day': () => ({ night: false }) },
  'GET /user_avatars/:realm_id/realm/logo.png': { 'a logo': () => ({ realm_id: 1 }) },
  'GET /user_avatars/:realm_id/realm/night_logo.png': { 'a logo': () => ({ realm_id: 1 }) },
  'POST /realm/emoji/*emoji_name': {
    'many pixels': ({ n }) => ({ emoji_name: `pixels-${n}`, file: new FormFile('a.png', MANY_PIXELS) }),
  },
  'DELETE /realm/emoji/*emoji_name': {
    one: async ({ addEmoji }) => ({ emoji_name: (await addEmoji()).name }),
  },
  'GET /user_avatars/:realm_id/emoji/images/:file': {
    one: async ({ addEmoji }) => ({ realm_id: 1, file: `${(await addEmoji()).id}.gif` }),
  },
  'GET /user_avatars/:realm_id/emoji/images/still/:file': {
    one: async ({ addEmoji }) => ({ realm_id: 1, file: `${(await addEmoji()).id}.png` }),
  },
  'GET /user_avatars/:realm_id/:file': {
    'a large one': () => ({ realm_id: 1, file: '1-medium.png' }),
  },
  'GET /user_avatars/:realm_id/realm/icon.png': {
    'an icon': () => ({ realm_id: 1 }),
  },
};
