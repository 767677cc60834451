import { createECDH } from 'node:crypto';
import { GrantSpecialPermission } from '@parley/domain/users';
import { createRoutes, membersOfDto, type Route } from '@parley/http';
import type { ParameterSchema } from '@parley/testkit';
import { fieldsOf } from './expectations.js';
import { imageFile, postFiles } from './multipart.js';
import type { TestReply } from './test-reply.js';
import type { TestServer, TestUser } from './test-server.js';

/**
 * Fate of a text when its author is erased:
 * - `personal`: disappears;
 * - `written`: disappears only with everything written;
 * - `organization`: stays, since it belongs to the organization (docs/personal-data.md).
 */
export type Fate = 'personal' | 'written' | 'organization';

/** Returns a word for a parameter such as `drafts.topic`, with the operation's fate by default. */
type PlaceWord = (parameter: string, fate?: Fate) => string;

/** Organization in which a person writes words. */
export interface Scene {
  readonly server: TestServer;
  /** An owner, who may do everything. */
  readonly person: TestUser;
  readonly bot: TestUser;
  readonly channelId: number;
  /** Message of the person, in `channelId`. */
  readonly messageId: number;
  /** Poll of somebody else. */
  readonly pollId: number;
  readonly profileFieldId: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Operation {
  readonly fate: Fate;
  /** Returns the parameters, including those of the path. */
  readonly fields: (word: PlaceWord, scene: Scene) => Fields | Promise<Fields>;
  readonly as?: (scene: Scene) => TestUser | null;
  /** Sends other bodies than forms. */
  readonly send?: (scene: Scene, fields: Fields) => Promise<TestReply>;
}

const personal = (fields: Operation['fields'], more: Partial<Operation> = {}): Operation => ({
  ...{ fate: 'personal', fields },
  ...more,
});
const written = (fields: Operation['fields'], more: Partial<Operation> = {}): Operation => ({
  ...{ fate: 'written', fields },
  ...more,
});
const ofOrganization = (fields: Operation['fields'], more: Partial<Operation> = {}): Operation => ({
  ...{ fate: 'organization', fields },
  ...more,
});

/** Time of scheduled messages and reminders, in seconds from now. */
const LATER = 100_000;
const later = ({ server }: Scene) => server.clock.now() + LATER;
const byOwner = ({ server }: Scene) => server.people.desdemona;
const create = async ({ server, person }: Scene, path: string, fields: Fields): Promise<Fields> =>
  fieldsOf(await server.post(path, person, fields));
const sendImage = ({ server, person }: Scene, path: string) => postFiles(server, path, person, [imageFile()]);
/** Begins an upload that is never completed. */
const tus = (path: string): Operation =>
  personal((word) => ({ name: word('name') }), {
    send: ({ server, person }, { name }) =>
      server.request('POST', path, {
        as: person,
        headers: {
          ...{ 'Tus-Resumable': '1.0.0', 'Upload-Length': '1000' },
          'Upload-Metadata': `filename ${Buffer.from(String(name)).toString('base64')}`,
        },
      }),
  });
const linkifier = (word: PlaceWord): Fields => ({
  pattern: `${word('pattern')}-(?P<id>[0-9]+)`,
  url_template: `https://${word('url_template')}.example/{id}`,
  alternative_url_templates: [`https://${word('alternative_url_templates')}.example/{id}`],
});
const settings: Operation = personal((word) => ({
  full_name: `${word('full_name')} ${word('full_name')}`,
  email: `${word('email')}@example.com`,
}));

/** Operations that store a text, in order. */
export const STORING: Readonly<Record<string, Operation>> = {
  // Messages
  'POST /messages': written((word, { channelId }) => ({
    ...{
      type: 'channel',
      to: channelId,
      topic: word('topic'),
      queue_id: 'none',
      local_id: word('local_id', 'personal'),
    },
    content: `${word('content')} **${word('content')}**`,
    widget_content: JSON.stringify({
      widget_type: 'zform',
      extra_data: { type: 'choices', heading: word('widget_content'), choices: [] },
    }),
  })),
  'PATCH /messages/:message_id': written((word, { messageId }) => ({
    ...{ message_id: messageId, topic: word('topic'), content: word('content') },
    ...{ send_notification_to_old_thread: false, send_notification_to_new_thread: false },
  })),
  'POST /submessage': written((word, { pollId }) => ({
    ...{ message_id: pollId, msg_type: word('msg_type') },
    content: JSON.stringify({ type: 'new_option', idx: 1, option: word('content') }),
  })),
  'POST /user_uploads': personal((word) => ({ name: `${word('name')}.txt`, content: word('content') }), {
    send: ({ server, person }, { name, content }) =>
      postFiles(server, '/user_uploads', person, [{ name: String(name), content: String(content) }]),
  }),
  'POST /scheduled_messages': personal((word, scene) => ({
    ...{ type: 'channel', to: scene.channelId, topic: word('topic'), content: word('content') },
    scheduled_delivery_timestamp: later(scene),
  })),
  'PATCH /scheduled_messages/:scheduled_message_id': personal(async (word, scene) => {
    const due = { scheduled_delivery_timestamp: later(scene) };
    const message = { type: 'channel', to: scene.channelId, topic: word('topic'), content: word('content') };
    const { scheduled_message_id } = await create(scene, '/scheduled_messages', { ...message, ...due });
    return { scheduled_message_id, topic: word('topic'), content: word('content') };
  }),
  'POST /reminders': personal((word, scene) => ({
    ...{ message_id: scene.messageId, note: word('note'), scheduled_delivery_timestamp: later(scene) },
  })),
  'POST /drafts': personal((word, { channelId: to }) => ({
    drafts: [{ type: 'stream', to: [to], topic: word('drafts.topic'), content: word('drafts.content'), timestamp: 1 }],
  })),
  'PATCH /drafts/:draft_id': personal(async (word, scene) => {
    const draft = {
      ...{ type: 'stream', to: [scene.channelId], topic: word('draft.topic'), content: word('draft.content') },
      timestamp: 1,
    };
    const { ids } = await create(scene, '/drafts', { drafts: [draft] });
    const changed = { topic: word('draft.topic'), content: word('draft.content') };
    return { draft_id: (ids as number[])[0], draft: { ...draft, ...changed } };
  }),
  'POST /saved_snippets': personal((word) => ({ title: word('title'), content: word('content') })),
  'PATCH /saved_snippets/:saved_snippet_id': personal(async (word, scene) => ({
    ...(await create(scene, '/saved_snippets', { title: word('title'), content: word('content') })),
    ...{ title: word('title'), content: word('content') },
  })),
  'POST /navigation_views': personal((word) => ({
    ...{ fragment: `narrow/is/${word('fragment')}`, is_pinned: true, name: word('name') },
  })),
  'PATCH /navigation_views/*fragment': personal(async (word, scene) => {
    const fragment = `narrow/is/${word('fragment')}`;
    await create(scene, '/navigation_views', { fragment, is_pinned: true, name: word('name') });
    return { fragment, name: word('name') };
  }),
  'POST /users/me/alert_words': personal((word) => ({ alert_words: [word('alert_words')] })),
  'POST /users/me/status': personal((word) => ({ status_text: word('status_text') })),
  'POST /users/:user_id/status': personal(
    (word, { person }) => ({ user_id: person.id, status_text: word('status_text') }),
    { as: byOwner },
  ),
  'POST /user_topics': personal((word, { channelId }) => ({
    ...{ stream_id: channelId, topic: word('topic'), visibility_policy: 3 },
  })),
  'POST /register': personal((word) => ({ narrow: [['topic', word('narrow')]], event_types: ['message'] })),
  'POST /bots': ofOrganization((word) => ({
    ...{ full_name: word('full_name', 'personal'), short_name: word('short_name', 'personal'), bot_type: 3 },
    payload_url: JSON.stringify(`https://example.com/${word('payload_url')}`),
  })),
  'PUT /bot_storage': ofOrganization((word) => ({ storage: { [word('storage')]: word('storage') } }), {
    as: ({ bot }) => bot,
  }),
  'PATCH /bots/:bot_id': ofOrganization(async (word, scene) => {
    const hook = { full_name: 'hook', short_name: 'hook', bot_type: 3, payload_url: '"https://example.com/"' };
    return {
      bot_id: (await create(scene, '/bots', hook)).user_id,
      ...{ full_name: word('full_name', 'personal'), short_name: word('short_name', 'personal') },
      ...{ service_payload_url: JSON.stringify(`https://example.com/${word('service_payload_url')}`) },
      service_interface: 1,
    };
  }),
  'PATCH /application_data': personal((word, { messageId }) => ({
    object_type: 'message',
    object_id: messageId,
    data: { key: word('data', 'organization') },
  })),
  // Devices
  'POST /users/me/apns_device_token': personal((word) => ({ token: 'ab12', appid: word('appid') })),
  'POST /users/me/android_gcm_reg_id': personal((word) => ({ token: word('token') })),
  'POST /web_push/subscriptions': personal((word) => ({
    endpoint: `https://push.example.com/${word('endpoint')}`,
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: Buffer.alloc(16, 1).toString('base64url'),
  })),
  // Account
  'POST /tus': tus('/tus'),
  'POST /tus/': tus('/tus/'),
  'PATCH /settings/display': settings,
  'PATCH /settings/notifications': settings,
  'PATCH /settings': settings,
  'POST /realm/icon': ofOrganization(() => ({}), { send: (scene) => sendImage(scene, '/realm/icon') }),
  'POST /realm/logo': ofOrganization(() => ({}), { send: (scene) => sendImage(scene, '/realm/logo?night=false') }),
  'POST /users/me/avatar': personal(() => ({}), {
    send: (scene) => sendImage(scene, '/users/me/avatar'),
  }),
  'PATCH /users/me/profile_data': personal((word, { profileFieldId: id }) => ({
    data: [{ id, value: word('data.value') }],
  })),
  // Invitations
  'POST /invites': personal((word, { channelId }) => ({
    ...{ invitee_emails: `${word('invitee_emails')}@example.com`, stream_ids: [channelId] },
    welcome_message_custom_text: word('welcome_message_custom_text'),
  })),
  'POST /invites/multiuse': personal((word, { channelId }) => ({
    ...{ stream_ids: [channelId], welcome_message_custom_text: word('welcome_message_custom_text') },
  })),
  // Organization
  'POST /realm/test_welcome_bot_custom_message': ofOrganization((word) => ({
    welcome_message_custom_text: word('welcome_message_custom_text'),
  })),
  'POST /users': ofOrganization(
    (word) => ({ email: `${word('email')}@example.com`, password: 'a password 7q', full_name: word('full_name') }),
    { as: byOwner },
  ),
  'POST /channels/create': ofOrganization((word) => ({
    ...{ name: word('name'), description: word('description'), subscribers: [] },
  })),
  'POST /users/me/subscriptions': ofOrganization((word) => ({
    subscriptions: [{ name: word('subscriptions.name'), description: word('subscriptions.description') }],
  })),
  'PATCH /users/me/subscriptions': ofOrganization((word) => ({
    add: [{ name: word('add.name'), description: word('add.description') }],
  })),
  'PATCH /streams/:stream_id': ofOrganization(
    async (word, scene) => ({
      stream_id: await scene.server.createChannel(word('new_name'), [], { description: word('description') }),
      ...{ new_name: word('new_name'), description: word('description') },
    }),
    { as: byOwner },
  ),
  'POST /default_stream_groups/create': ofOrganization((word) => ({
    ...{ group_name: word('group_name'), description: word('description'), stream_names: ['first'] },
  })),
  'PATCH /default_stream_groups/:group_id': ofOrganization(async (word, scene) => {
    const names = { group_name: word('new_group_name'), description: word('new_description') };
    await create(scene, '/default_stream_groups/create', { ...names, stream_names: ['second'] });
    const { realm_default_stream_groups } = await create(scene, '/register', {
      fetch_event_types: ['default_stream_groups'],
    });
    return {
      group_id: (realm_default_stream_groups as { id: number; name: string }[]).find(
        ({ name }) => name === names.group_name,
      )!.id,
      ...{ new_group_name: word('new_group_name'), new_description: word('new_description') },
    };
  }),
  'POST /channel_folders/create': ofOrganization((word) => ({ name: word('name'), description: word('description') })),
  'PATCH /channel_folders/:channel_folder_id': ofOrganization(async (word, scene) => ({
    ...(await create(scene, '/channel_folders/create', { name: word('name'), description: word('description') })),
    ...{ name: word('name'), description: word('description') },
  })),
  'POST /user_groups/create': ofOrganization((word, { person }) => ({
    ...{ name: word('name'), description: word('description'), members: [person.id] },
  })),
  'PATCH /user_groups/:user_group_id': ofOrganization(async (word, scene) => {
    const group = { name: word('name'), description: word('description'), members: [scene.person.id] };
    const { group_id: user_group_id } = await create(scene, '/user_groups/create', group);
    return { user_group_id, name: word('name'), description: word('description') };
  }),
  'POST /holds': ofOrganization(
    async (word, { server }) => {
      const { email } = server.people.desdemona;
      const grant = { realmId: server.realmId, email, permission: 'canHoldMessages' } as const;
      await server.parley.useCase(GrantSpecialPermission).execute(grant);
      // Covers no message.
      return { reason: word('reason'), since: Number.MAX_SAFE_INTEGER };
    },
    { as: byOwner },
  ),
  'POST /realm/domains': ofOrganization((word) => ({ domain: `${word('domain')}.example`, allow_subdomains: false })),
  'POST /realm/filters': ofOrganization(linkifier),
  'PATCH /realm/filters/:filter_id': ofOrganization(async (word, scene) => {
    const { id: filter_id } = await create(scene, '/realm/filters', linkifier(word));
    return { filter_id, ...linkifier(word) };
  }),
  'POST /realm/playgrounds': ofOrganization((word) => ({
    ...{ name: word('name'), pygments_language: word('pygments_language') },
    url_template: `https://${word('url_template')}.example/{code}`,
  })),
  'POST /realm/profile_fields': ofOrganization((word) => ({
    ...{ field_type: 3, name: word('name'), hint: word('hint') },
    field_data: { 0: { text: word('field_data'), order: '1' } },
  })),
  'PATCH /realm/profile_fields/:field_id': ofOrganization((word, { profileFieldId }) => ({
    ...{ field_id: profileFieldId, name: word('name'), hint: word('hint'), field_data: {} },
  })),
  'POST /realm/emoji/*emoji_name': ofOrganization((word) => ({ emoji_name: word('emoji_name') }), {
    send: (scene, { emoji_name }) => sendImage(scene, `/realm/emoji/${emoji_name}`),
  }),
  'PATCH /realm': ofOrganization((word) => ({
    ...{ name: word('name'), description: word('description') },
    ...{ welcome_message_custom_text: word('welcome_message_custom_text') },
    jitsi_server_url: JSON.stringify(`https://${word('jitsi_server_url')}.example`),
  })),
  // These change the address with which the person logs in.
  'PATCH /users/:email': personal(
    (word, { person, profileFieldId: id }) => ({
      ...{ email: person.email, full_name: word('full_name'), new_email: `${word('new_email')}@example.com` },
      profile_data: [{ id, value: word('profile_data.value') }],
    }),
    { as: byOwner },
  ),
  'PATCH /users/:user_id': personal(
    (word, { person, profileFieldId: id }) => ({
      ...{ user_id: person.id, full_name: word('full_name'), new_email: `${word('new_email')}@example.com` },
      profile_data: [{ id, value: word('profile_data.value') }],
    }),
    { as: byOwner },
  ),
};

/** Operations that store no text. */
export const STORING_NOTHING: ReadonlySet<string> = new Set([
  // Credentials, keys and tokens, which do not exist.
  'POST /fetch_api_key',
  'POST /dev_fetch_api_key',
  'POST /jwt/fetch_api_key',
  'POST /accounts/login/',
  'POST /json/fetch_api_key',
  'POST /login/',
  'POST /login/passkey/',
  'POST /login/second-factor/',
  'POST /accounts/login/complete/:method/',
  'POST /accounts/login/logout/:method/',
  'POST /accounts/login/subdomain/:token',
  'POST /accounts/login/connect/',
  'POST /accounts/second-factor/',
  'POST /accounts/second-factor/app/',
  'POST /accounts/second-factor/passkey/',
  'POST /accounts/second-factor/recovery/',
  'POST /accounts/second-factor/remove/',
  'POST /accounts/sessions/',
  'POST /accounts/confirm_new_email/:key',
  'POST /accounts/password/reset/',
  'POST /accounts/password/reset/:key',
  'POST /accounts/register/',
  'POST /accounts/unsubscribe/:kind/:key/',
  'POST /invites/accept',
  'POST /join/:key/',
  'POST /register/',
  'POST /export/users',
  'POST /users/:user_id/erasure',
  'POST /realm/imports/run',
  'POST /incoming_email',
  'POST /external/:integration',
  'PATCH /tus/*path_id',
  'DELETE /tus/*path_id',
  'DELETE /events',
  'POST /events/acknowledge',
  'POST /mobile_push/register',
  'POST /mobile_push/test_notification',
  // Names of existing objects, and values of lists.
  'DELETE /realm/emoji/*emoji_name',
  'PATCH /realm/domains/:domain',
  'DELETE /realm/domains/:domain',
  'POST /streams/:stream_id/delete_topic',
  'POST /messages/:message_id/reactions',
  'DELETE /messages/:message_id/reactions',
  'DELETE /bot_storage',
  'DELETE /users/me/apns_device_token',
  'DELETE /users/me/android_gcm_reg_id',
  'DELETE /web_push/subscriptions',
  'DELETE /navigation_views/*fragment',
  'DELETE /users/me/alert_words',
  'DELETE /users/me/subscriptions',
  'PATCH /users/me/subscriptions/muted_topics',
  'POST /users/me/subscriptions/properties',
  'PATCH /users/me/subscriptions/:stream_id',
  'PATCH /default_stream_groups/:group_id/streams',
  'PATCH /realm/user_settings_defaults',
  'POST /messages/flags',
  'POST /messages/flags/narrow',
  'POST /mark_topic_as_read',
  'POST /typing',
  'POST /users/me/onboarding_steps',
  'POST /users/me/presence',
  // Texts that are returned, sent to others, or refused without a configuration.
  'POST /messages/render',
  'POST /messages/:message_id/report',
  'POST /zcommand',
  'POST /calls/nextcloud_talk/create',
  'DELETE /users/:user_id',
]);

/** Operations on the same rows as others: users and groups of a directory, and queues of browsers. */
export const LIKE_OTHERS = /^\w+ \/scim\/|^POST \/json\/register$/;

/** Parameters without free text, by name: values of lists, addresses of existing objects, numbers and passwords. */
export const NO_FREE_TEXT: ReadonlySet<string> = new Set([
  ...['to', 'queue_id', 'prev_content_sha256', 'emoji_name', 'emoji_code', 'reaction_type'],
  ...['event_types', 'fetch_event_types', 'service_name', 'config_data', 'default_sending_stream'],
  ...['default_events_register_stream', 'p256dh', 'auth', 'old_password', 'new_password', 'password'],
  ...['default_language', 'notification_sound', 'timezone', 'message_retention_days', 'subscriptions.color'],
  ...['principals', 'add.color', 'delete', 'stream_names', 'string_id', 'authentication_methods'],
  ...['message_content_delete_limit_seconds', 'message_content_edit_limit_seconds', 'search_languages'],
  ...['move_messages_between_streams_limit_seconds', 'move_messages_within_stream_limit_seconds'],
  ...['default_code_block_language', 'example_input', 'reverse_template'],
]);

export interface PlacedWord {
  readonly where: string;
  /** `nothing`: must not be stored. */
  readonly fate: Fate | 'nothing';
}

/** Letters that no stemmer removes. */
const LETTERS = 'bdfghjkmnpqrtvwx';

/** Words that occur nowhere else. */
export class CanaryWords {
  readonly placed = new Map<string, PlacedWord>();

  /** @param variant Letters in the words of the person. */
  constructor(private readonly variant = '') {}

  /** Returns a new word. The code is at both ends, since search indexes store only the ends of similar words. */
  place(where: string, fate: PlacedWord['fate']): string {
    const n = this.placed.size;
    const code = [n >> 8, n >> 4, n].map((digit) => LETTERS[digit & 15]).join('');
    this.placed.set(code, { where, fate });
    return `${code}${fate === 'organization' ? '' : this.variant}qvjxk${code}jxk`;
  }

  /** Returns the places of the words in a text. */
  in(text: string): readonly PlacedWord[] {
    const codes = new Set([...text.matchAll(/qvjxk([a-z]{3})/gi)].map(([, code]) => code!.toLowerCase()));
    return [...codes].map((code) => this.placed.get(code)!);
  }
}

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

export const ROUTES: readonly Route[] = createRoutes({} as never);

/** Returns the parameters of an operation that may contain text, such as `content` and `drafts.topic`. */
export const textsOf = ({ dto }: Route): readonly string[] => [
  ...new Set(
    membersOfDto(dto).flatMap(({ name, type }) => textsIn(type.schema as ParameterSchema).map((each) => name + each)),
  ),
];

function textsIn({ type, enum: values, anyOf, items, properties, ...more }: ParameterSchema): readonly string[] {
  if (values) return [];
  const isRecord = 'propertyNames' in more || (type === 'object' && !properties);
  return [
    ...(type === 'string' || isRecord ? [''] : []),
    ...(anyOf ?? []).flatMap(textsIn),
    ...(items ? textsIn(items) : []),
    ...Object.entries(properties ?? {}).flatMap(([name, schema]) => textsIn(schema).map((each) => `.${name}${each}`)),
  ];
}

export const pathOf = ({ path, atRoot }: Route, fields: Fields): string =>
  (atRoot ? '/' : '') + path.replace(/[:*](\w+)/g, (_, name) => encodeURIComponent(String(fields[name])));

/** Creates a scene and calls all operations that store a text. Returns parameters that may have text but got no word. */
export async function writeWords(server: TestServer, words: CanaryWords) {
  const { hamlet, iago, desdemona } = server.people;
  await server.storage.uow.write(server.realmId, async (tx) => {
    const user = await tx.users.get(server.realmId, desdemona.id);
    await tx.users.update({ ...user, specialPermissions: ['canCreateUsers', 'canChangeUserEmails'] });
  });
  const person = await server.addUser({
    ...{ email: `${words.place('email', 'personal')}@example.com`, fullName: words.place('name', 'personal') },
    role: 'owner',
  });
  const channelId = await server.createChannel('town', [hamlet, iago, person]);
  for (const name of ['first', 'second']) await server.createChannel(name);
  const field = { field_type: 1, name: 'Field' };
  const message = words.place('message', 'written');
  const scene: Scene = {
    ...{ server, person, channelId },
    bot: await server.addBot(person, words.place('bot', 'personal')),
    messageId: await server.sendMessage(person, channelId, { content: message }),
    pollId: await server.sendMessage(hamlet, channelId, { content: '/poll x\na' }),
    profileFieldId: fieldsOf(await server.post('/realm/profile_fields', desdemona, field)).id,
  };
  // Somebody else quotes the message.
  const content = `[said](#narrow/channel/${channelId}-town/near/${scene.messageId}):\n\`\`\`quote\n${message}\n\`\`\``;
  fieldsOf(await server.post('/drafts', hamlet, { drafts: [{ type: '', to: [], topic: '', content }] }));
  const withoutWord: string[] = [];
  for (const [name, { fate, fields, send, as = () => person }] of Object.entries(STORING)) {
    const route = ROUTES.find((each) => nameOf(each) === name)!;
    const parameters = new Set<string>();
    const place: PlaceWord = (parameter, otherFate = fate) => {
      parameters.add(parameter);
      return words.place(`${name} ${parameter}`, otherFate);
    };
    const params = await fields(place, scene);
    const reply = await (send
      ? send(scene, params)
      : server.request(route.method, pathOf(route, params), { as: as(scene), params }));
    expect([name, reply.status, reply.status < 300 || reply.body]).toEqual([name, expect.any(Number), true]);
    withoutWord.push(...textsOf(route).flatMap((each) => (parameters.has(each) ? [] : `${name} ${each}`)));
  }
  const { email } = await server.storage.uow.read(server.realmId, (r) => r.users.get(server.realmId, person.id));
  return { person: { ...person, email }, scene, withoutWord };
}
