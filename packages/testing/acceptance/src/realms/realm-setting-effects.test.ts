import { ConfigureRealm } from '@parley/domain/log-in';
import { SendWelcomeEmails } from '@parley/domain/membership';
import { REALM_PERMISSIONS, type Realm, type RealmPermission, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import { ExpireMessages, LINK_PREVIEW_JOB } from '@parley/domain/writing';
import { SETTINGS_WITHOUT_READER } from '@parley/repo-checks';
import { blackPng, withMetadata } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { jobsWithin, runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestServer, TestUser } from '../testing/test-server.js';

type Setting = keyof typeof STORED_REALM_SETTINGS | RealmPermission;

/** Observable effect of a setting. */
interface Effect {
  /** Parameters of PATCH /realm; a function if they depend on the running server. */
  readonly change: object | (() => object);
  /** Returns the observed response; see `said`. */
  readonly ask: () => Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
}

const DAY = 86_400;

const { server, people } = serverPerSuite({ sendsMail: false });
let system: Awaited<ReturnType<TestServer['systemGroups']>>;
let realm: Realm;
/** Channel with Hamlet, Cordelia and more users than a wildcard mention may reach. */
let general: number;
let museum: number;
let group: number;
let tries = 0;

const unique = (word: string) => `${word}${++tries}`;

const OK = 'done';
/** Settings covered by `missed-emails.test.ts`, `digests.test.ts` and `ldap.test.ts`. */
const COVERED_ELSEWHERE: ReadonlySet<string> = new Set([
  'digestEmailsEnabled',
  'digestWeekday',
  'ldapAuthentication',
  'messageContentAllowedInEmailNotifications',
]);

/** Error text, or a marker for success. */
const said = async (reply: Promise<TestReply>): Promise<string> => {
  const { status, body } = await reply;
  return status === 200 ? OK : body.msg;
};

const as = (name: keyof typeof people): TestUser => people[name];
const give = (name: string, to: keyof typeof system) => () => ({ [name]: { new: system[to] } });

const patchMessage = (id: number, params: object) =>
  said(server.patch(`/messages/${id}`, as('hamlet'), params as Record<string, unknown>));
/** Runs half an hour after the message was sent. */
async function later<T>(ask: () => Promise<T>): Promise<T> {
  server.clock.advance(1800);
  return ask();
}
const sayAsHamlet = () => server.sendMessage(as('hamlet'), general, { topic: unique('topic') });
const createChannel = (params: object = {}) =>
  server.post('/channels/create', as('hamlet'), { name: unique('channel'), subscribers: [], ...params });
const channelOf = async (reply: Promise<TestReply>): Promise<Wire> => {
  const { id } = fieldsOf(await reply);
  return fieldsOf(await server.get(`/streams/${id}`, as('hamlet'))).stream;
};
const rendered = async (content: string): Promise<string> =>
  fieldsOf(await server.post('/messages/render', as('hamlet'), { content })).rendered;
const inviteByEmail = async (address: string): Promise<string> => {
  const { body } = await server.post('/invites', as('hamlet'), { invitee_emails: address, stream_ids: [] });
  return body.errors?.[0][1] ?? body.msg;
};
async function join(): Promise<TestUser> {
  const { invite_link } = fieldsOf(await server.post('/invites/multiuse', as('desdemona'), {}));
  const [key] = invite_link.split('/').slice(-2);
  const email = `${unique('yorick')}@example.com`;
  const person = { key, email, full_name: 'Yorick', password: 'alas, poor yorick 1601' };
  const { api_key, user_id } = fieldsOf(await server.post('/invites/accept', null, person));
  return { ...as('hamlet'), id: user_id, email, apiKey: api_key };
}
const newestIn = async (who: TestUser, narrow: unknown): Promise<string> => {
  return (await server.messagesFor(who, { narrow, num_before: 1, apply_markdown: false }))[0]?.content ?? '';
};
const avatarOf = async ({ id }: TestUser): Promise<string> =>
  fieldsOf(await server.get(`/users/${id}`, as('desdemona'), { client_gravatar: false })).user.avatar_url.split('/')[2];

const toGeneral = (name: string) => () => ({ [name]: general });
const NO_PERMISSION = 'Insufficient permission';

/** Settings without an API; only the operator can change them. */
const FOR_THE_OPERATOR: ReadonlySet<string> = new Set(['ownerFullContentAccess', 'presenceDisabled']);

/** Effects by setting; null if the server does not use it (docs/realm-settings.md). */
const EFFECTS: Readonly<Record<Setting, Effect | null>> = {
  allowMessageEditing: {
    change: { allow_message_editing: false },
    ask: async () => patchMessage(await sayAsHamlet(), { content: unique('text') }),
    before: OK,
    after: 'Your organization has turned off message editing',
  },
  avatarChangesDisabled: {
    change: { avatar_changes_disabled: true },
    ask: () => said(server.delete('/users/me/avatar', as('hamlet'))),
    before: OK,
    after: 'Avatar changes are disabled in this organization.',
  },
  defaultAvatarSource: {
    change: { default_avatar_source: 'G' },
    ask: async () => (await avatarOf(await join())).replace(/:\d+$/, ''),
    before: 'localhost',
    after: 'secure.gravatar.com',
  },
  defaultLanguage: {
    change: { default_language: 'de' },
    ask: async () => {
      const { user_settings } = fieldsOf(
        await server.post('/register', await join(), { fetch_event_types: ['user_settings'] }),
      );
      return user_settings.default_language;
    },
    before: 'en',
    after: 'de',
  },
  defaultCodeBlockLanguage: {
    change: { default_code_block_language: 'python' },
    ask: async () => /data-code-language="(\w+)"/.exec(await rendered('```\nx = 1\n```'))?.[1],
    before: undefined,
    after: 'Python',
  },
  description: {
    change: { description: 'A *realm*' },
    ask: async () => fieldsOf(await server.get('/server_settings', null)).realm_description,
    before: '',
    after: '<p>A <em>realm</em></p>',
  },
  disallowDisposableEmailAddresses: {
    change: { disallow_disposable_email_addresses: false },
    ask: () => inviteByEmail(`${unique('yorick')}@mailinator.com`),
    before: 'Please use your real email address.',
    after: '',
  },
  emailChangesDisabled: {
    change: { email_changes_disabled: true },
    ask: () => said(server.patch('/settings', as('hamlet'), { email: 'king@zulip.com' })),
    before: OK,
    after: 'Email address changes are disabled in this organization.',
  },
  emailsRestrictedToDomains: {
    change: { emails_restricted_to_domains: true },
    ask: () => inviteByEmail(`${unique('yorick')}@example.com`),
    before: '',
    after: 'Outside your domain.',
  },
  enableReadReceipts: {
    change: { enable_read_receipts: true },
    ask: async () => said(server.get(`/messages/${await sayAsHamlet()}/read_receipts`, as('hamlet'))),
    before: 'Read receipts are disabled in this organization.',
    after: OK,
  },
  enableSpectatorAccess: {
    change: { enable_spectator_access: true },
    ask: () => said(server.get(`//json/users/me/${museum}/topics`, null)),
    before: 'Not logged in: API authentication or user session required',
    after: OK,
  },
  inlineImagePreview: {
    change: { inline_image_preview: false },
    ask: async () => (await rendered('https://example.com/a.png')).includes('<img'),
    before: true,
    after: false,
  },
  inlineUrlEmbedPreview: {
    change: { inline_url_embed_preview: true },
    ask: async () => {
      await server.sendMessage(as('hamlet'), general, { content: 'https://example.com/' });
      return (await jobsWithin(server, LINK_PREVIEW_JOB.name, 0)).length > 0;
    },
    before: false,
    after: true,
  },
  inviteRequired: {
    change: { invite_required: false },
    ask: async () => {
      const form = new URLSearchParams({ email: 'open@example.com' }).toString();
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: server.url };
      const { body } = await server.request('POST', '//register/', { body: form, headers });
      return /Please request an invite for open@example\.com/.test(String(body));
    },
    before: true,
    after: false,
  },
  messageContentDeleteLimitSeconds: {
    change: { message_content_delete_limit_seconds: 3600 },
    ask: async () => {
      const id = await sayAsHamlet();
      return later(() => said(server.delete(`/messages/${id}`, as('hamlet'))));
    },
    before: 'The time limit for deleting this message has passed',
    after: OK,
  },
  messageContentEditLimitSeconds: {
    change: { message_content_edit_limit_seconds: 3600 },
    ask: async () => {
      const id = await sayAsHamlet();
      return later(() => patchMessage(id, { content: 'later' }));
    },
    before: 'The time limit for editing this message has passed',
    after: OK,
  },
  messageEditHistoryVisibilityPolicy: {
    change: { message_edit_history_visibility_policy: 'none' },
    ask: async () => said(server.get(`/messages/${await sayAsHamlet()}/history`, as('hamlet'))),
    before: OK,
    after: 'Message edit history is disabled in this organization',
  },
  messageRetentionDays: {
    change: { message_retention_days: 3 },
    ask: async () => {
      const id = await server.sendMessage(as('hamlet'), [as('cordelia')]);
      server.clock.advance(3 * DAY + 1);
      await server.parley.useCase(ExpireMessages).execute();
      return said(server.get(`/messages/${id}`, as('hamlet')));
    },
    before: OK,
    after: 'Invalid message(s)',
  },
  moveMessagesBetweenChannelsLimitSeconds: {
    change: { move_messages_between_streams_limit_seconds: 60 },
    ask: async () => {
      const id = await sayAsHamlet();
      return later(() => patchMessage(id, { stream_id: museum }));
    },
    before: OK,
    after: "The time limit for editing this message's channel has passed",
  },
  moveMessagesWithinChannelLimitSeconds: {
    change: { move_messages_within_stream_limit_seconds: 60 },
    ask: async () => {
      const id = await sayAsHamlet();
      return later(() => patchMessage(id, { topic: unique('topic') }));
    },
    before: OK,
    after: "The time limit for editing this message's topic has passed.",
  },
  nameChangesDisabled: {
    change: { name_changes_disabled: true },
    // Deliberate: the reference server keeps the name without an error.
    ask: async () => {
      const full_name = unique('Hamlet ');
      fieldsOf(await server.patch('/settings', as('hamlet'), { full_name }));
      return fieldsOf(await server.get('/users/me', as('hamlet'))).full_name === full_name;
    },
    before: true,
    after: false,
  },
  ownerFullContentAccess: {
    change: {},
    ask: () => said(server.post('/export/realm', as('desdemona'), { export_type: 'full_without_consent' })),
    before: NO_PERMISSION,
    after: OK,
  },
  presenceDisabled: {
    change: {},
    ask: async () => {
      fieldsOf(await server.post('/users/me/presence', as('cordelia'), { status: 'active' }));
      return Object.keys(fieldsOf(await server.get('/realm/presence', as('hamlet'))).presences).length > 0;
    },
    before: true,
    after: false,
  },
  requireUniqueNames: {
    change: { require_unique_names: true },
    ask: async () => {
      fieldsOf(await server.patch('/settings', as('hamlet'), { full_name: unique('Hamlet ') }));
      return said(server.patch('/settings', as('hamlet'), { full_name: 'polonius' }));
    },
    before: OK,
    after: 'Unique names required in this organization.',
  },
  sendChannelEventsMessages: {
    change: { send_channel_events_messages: false },
    ask: async () => (await channelOf(createChannel())).first_message_id === null,
    before: false,
    after: true,
  },
  sendWelcomeEmails: {
    change: { send_welcome_emails: false },
    ask: async () => {
      const { email } = await join();
      await runJobs(server, server.parley.useCase(SendWelcomeEmails));
      return server.mailer.emails.some(({ to }) => to === email);
    },
    before: true,
    after: false,
  },
  topicsPolicy: {
    change: { topics_policy: 'disable_empty_topic' },
    ask: () => said(server.post('/messages', as('hamlet'), { type: 'channel', to: general, topic: '', content: 'x' })),
    before: OK,
    after: 'Sending messages to the general chat is not allowed in this channel.',
  },
  waitingPeriodThreshold: {
    change: { waiting_period_threshold: 10_000 },
    ask: async () => {
      const path = `/user_groups/${system.fullMembers}/members/${as('hamlet').id}`;
      return fieldsOf(await server.get(path, as('hamlet'))).is_user_group_member;
    },
    before: true,
    after: false,
  },
  welcomeMessageCustomText: {
    change: { welcome_message_custom_text: 'Mind the gap.' },
    ask: async () => (await newestIn(await join(), [['is', 'dm']])).includes('Mind the gap.'),
    before: false,
    after: true,
  },
  moderationRequestChannelId: {
    change: () => ({ moderation_request_channel_id: general }),
    ask: async () => {
      const id = await server.sendMessage(as('cordelia'), general);
      return said(server.post(`/messages/${id}/report`, as('hamlet'), { report_type: 'spam' }));
    },
    before: 'Message reporting is not enabled in this organization.',
    after: OK,
  },
  newChannelAnnouncementsChannelId: {
    change: toGeneral('new_stream_announcements_stream_id'),
    ask: async () => {
      fieldsOf(await createChannel({ announce: true }));
      return (await newestIn(as('hamlet'), [{ operator: 'channel', operand: general }])).includes(
        'created a new channel',
      );
    },
    before: false,
    after: true,
  },
  signupAnnouncementsChannelId: {
    change: toGeneral('signup_announcements_stream_id'),
    ask: async () => {
      await join();
      return (await newestIn(as('hamlet'), [{ operator: 'channel', operand: general }])).includes(
        'joined this organization',
      );
    },
    before: false,
    after: true,
  },
  devAuthentication: {
    change: { authentication_methods: { Dev: false, Email: true } },
    ask: () => said(server.post('/dev_fetch_api_key', null, { username: as('hamlet').email })),
    before: OK,
    after: 'DevAuthBackend not enabled.',
  },
  emailAuthentication: {
    change: { authentication_methods: { Dev: true, Email: false } },
    ask: () => {
      const { email, password } = as('hamlet');
      return said(server.post('/fetch_api_key', null, { username: email, password }));
    },
    before: OK,
    after: 'Password authentication is disabled in this organization',
  },
  searchLanguages: {
    change: { search_languages: 'de' },
    ask: async () => {
      const topic = unique('Wartung ');
      await server.sendMessage(as('hamlet'), general, { topic, content: 'verschoben' });
      const page = {
        narrow: [
          ['search', 'Wartungen'],
          ['topic', topic],
        ],
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
      };
      return fieldsOf(await server.get('/messages', as('hamlet'), page)).messages.length;
    },
    before: 0,
    after: 1,
  },
  keepFileMetadata: {
    change: { keep_file_metadata: true },
    ask: async () => {
      const { hamlet } = people;
      const content = withMetadata(blackPng(2, 2), 'CamCo');
      const { url } = fieldsOf(await postFiles(server, '/user_uploads', hamlet, [{ name: 'a.png', content }]));
      const { body } = await server.request('GET', `/${url}`, { as: hamlet });
      return String(body).includes('CamCo');
    },
    before: false,
    after: true,
  },
  secondFactorRequiredFor: {
    change: { second_factor_required_for: 'members' },
    ask: () => {
      const { email, password } = as('hamlet');
      return said(server.post('/fetch_api_key', null, { username: email, password }));
    },
    before: OK,
    after: 'Password authentication is disabled in this organization',
  },

  canAccessAllUsers: {
    change: give('can_access_all_users_group', 'members'),
    ask: () => said(server.get(`/users/${as('cordelia').id}`, as('polonius'))),
    before: OK,
    after: NO_PERMISSION,
  },
  canAddCustomEmoji: {
    change: give('can_add_custom_emoji_group', 'nobody'),
    ask: () => said(server.post('/realm/emoji/skull', as('hamlet'))),
    before: 'You must upload exactly one file.',
    after: NO_PERMISSION,
  },
  canAddSubscribers: {
    change: give('can_add_subscribers_group', 'nobody'),
    ask: () => {
      const params = { subscriptions: [{ name: 'general' }], principals: [as('shiva').id] };
      return said(server.post('/users/me/subscriptions', as('hamlet'), params));
    },
    before: OK,
    after: NO_PERMISSION,
  },
  canCreateBots: {
    change: give('can_create_bots_group', 'nobody'),
    ask: () => said(server.post('/bots', as('hamlet'), { full_name: unique('Bot '), short_name: unique('bot') })),
    before: OK,
    after: NO_PERMISSION,
  },
  canCreateGroups: {
    change: give('can_create_groups', 'nobody'),
    ask: () => {
      const params = { name: unique('team'), description: '', members: [] };
      return said(server.post('/user_groups/create', as('hamlet'), params));
    },
    before: OK,
    after: NO_PERMISSION,
  },
  canCreatePrivateChannel: {
    change: give('can_create_private_channel_group', 'nobody'),
    ask: () => said(createChannel({ invite_only: true })),
    before: OK,
    after: NO_PERMISSION,
  },
  canCreatePublicChannel: {
    change: give('can_create_public_channel_group', 'nobody'),
    ask: () => said(createChannel()),
    before: OK,
    after: NO_PERMISSION,
  },
  canCreateWebPublicChannel: {
    change: () => ({ enable_spectator_access: true, ...give('can_create_web_public_channel_group', 'moderators')() }),
    ask: () => {
      const params = { name: unique('channel'), subscribers: [], is_web_public: true };
      return said(server.post('/channels/create', as('shiva'), params));
    },
    before: 'Web-public channels are not enabled.',
    after: OK,
  },
  canCreateWriteOnlyBots: {
    change: () => ({
      ...give('can_create_bots_group', 'nobody')(),
      ...give('can_create_write_only_bots_group', 'administrators')(),
    }),
    ask: () => {
      const params = { full_name: unique('Bot '), short_name: unique('bot'), bot_type: 2 };
      return said(server.post('/bots', as('hamlet'), params));
    },
    before: OK,
    after: NO_PERMISSION,
  },
  canDeleteAnyMessage: {
    change: give('can_delete_any_message_group', 'members'),
    ask: async () => {
      const id = await server.sendMessage(as('cordelia'), general);
      return said(server.delete(`/messages/${id}`, as('hamlet')));
    },
    before: "You don't have permission to delete this message",
    after: OK,
  },
  canDeleteOwnMessage: {
    change: give('can_delete_own_message_group', 'nobody'),
    ask: async () => said(server.delete(`/messages/${await sayAsHamlet()}`, as('hamlet'))),
    before: OK,
    after: "You don't have permission to delete this message",
  },
  canInviteUsers: {
    change: give('can_invite_users_group', 'administrators'),
    ask: () => inviteByEmail(`${unique('yorick')}@example.com`),
    before: '',
    after: NO_PERMISSION,
  },
  canManageAllGroups: {
    change: give('can_manage_all_groups', 'members'),
    ask: () => said(server.patch(`/user_groups/${group}`, as('hamlet'), { description: unique('text') })),
    before: NO_PERMISSION,
    after: OK,
  },
  canMentionManyUsers: {
    change: give('can_mention_many_users_group', 'members'),
    ask: () => {
      const params = { type: 'channel', to: general, topic: 'plans', content: '@**all**' };
      return said(server.post('/messages', as('hamlet'), params));
    },
    before: 'You do not have permission to use channel wildcard mentions in this channel.',
    after: OK,
  },
  canMoveMessagesBetweenChannels: {
    change: give('can_move_messages_between_channels_group', 'nobody'),
    ask: async () => patchMessage(await sayAsHamlet(), { stream_id: museum }),
    before: OK,
    after: "You don't have permission to move this message",
  },
  canMoveMessagesBetweenTopics: {
    change: give('can_move_messages_between_topics_group', 'nobody'),
    ask: async () => patchMessage(await sayAsHamlet(), { topic: unique('topic') }),
    before: OK,
    after: "You don't have permission to edit this message",
  },
  canResolveTopics: {
    change: give('can_resolve_topics_group', 'nobody'),
    ask: async () => {
      const topic = unique('topic');
      const id = await server.sendMessage(as('hamlet'), general, { topic });
      return patchMessage(id, { topic: `✔ ${topic}` });
    },
    before: OK,
    after: "You don't have permission to resolve topics in this channel.",
  },
  canSetDeleteMessagePolicy: {
    change: give('can_set_delete_message_policy_group', 'members'),
    ask: () => said(createChannel({ can_delete_any_message_group: system.members })),
    before: NO_PERMISSION,
    after: OK,
  },
  canSetTopicsPolicy: {
    change: give('can_set_topics_policy_group', 'nobody'),
    ask: () => said(createChannel({ topics_policy: 'disable_empty_topic' })),
    before: OK,
    after: NO_PERMISSION,
  },
  createMultiuseInvite: {
    change: give('create_multiuse_invite_group', 'members'),
    ask: () => said(server.post('/invites/multiuse', as('hamlet'), {})),
    before: NO_PERMISSION,
    after: OK,
  },
  directMessageInitiator: {
    change: give('direct_message_initiator_group', 'nobody'),
    ask: async () => {
      const to = [(await server.addUser({ email: `${unique('u')}@zulip.com`, fullName: 'Somebody' })).id];
      return said(server.post('/messages', as('hamlet'), { type: 'direct', to, content: 'hello' }));
    },
    before: OK,
    after: 'You do not have permission to initiate direct message conversations.',
  },
  directMessagePermission: {
    change: give('direct_message_permission_group', 'nobody'),
    ask: () => said(server.post('/messages', as('hamlet'), { type: 'direct', to: [as('shiva').id], content: 'hi' })),
    before: OK,
    after: 'Direct messages are disabled in this organization.',
  },

  appleAuthentication: null,
  canManageBilling: null,
  canSummarizeTopics: null,
  digestEmailsEnabled: null,
  digestWeekday: null,
  enableGuestUserDmWarning: null,
  enableGuestUserIndicator: null,
  gifRatingPolicy: null,
  ldapAuthentication: null,
  gitHubAuthentication: null,
  gitLabAuthentication: null,
  googleAuthentication: null,
  jitsiServerUrl: null,
  mediaPreviewSize: null,
  messageContentAllowedInEmailNotifications: null,
  openIdConnectAuthentication: null,
  organizationType: null,
  requireE2eePushNotifications: null,
  samlAuthentication: null,
  updateAnnouncementsChannelId: null,
  videoChatProvider: null,
  wantAdvertiseInCommunitiesDirectory: null,
  workplaceUsers: null,
};

describe('organization setting', () => {
  beforeAll(async () => {
    const { desdemona, hamlet, cordelia } = people;
    system = await server.systemGroups();
    const crowd: TestUser[] = [];
    for (let n = 0; n < 14; n++)
      crowd.push(await server.addUser({ email: `crowd${n}@zulip.com`, fullName: `Crowd ${n}` }));
    general = await server.createChannel('general', [hamlet, cordelia, ...crowd], { invite_only: false });
    fieldsOf(await server.patch('/realm', desdemona, { enable_spectator_access: true }));
    museum = await server.createChannel('museum', [hamlet], { is_web_public: true });
    fieldsOf(await server.patch('/realm', desdemona, { enable_spectator_access: false }));
    const params = { name: 'team', description: '', members: [] };
    group = fieldsOf(await server.post('/user_groups/create', desdemona, params)).group_id;
    realm = await server.storage.uow.read(server.realmId, ({ realms }) => realms.get(server.realmId));
  });
  afterEach(() => server.storage.uow.write(realm.id, (tx) => tx.realms.update(realm)));

  it.each(Object.entries(EFFECTS).flatMap(([name, effect]) => (effect ? [[name, effect] as const] : [])))(
    'takes effect: %s',
    async (name, { change, ask, before, after }) => {
      expect(await ask()).toEqual(before);
      if (FOR_THE_OPERATOR.has(name)) {
        const settings = { [name]: true };
        await server.parley.useCase(ConfigureRealm).execute({ realmId: server.realmId, settings });
      } else {
        const params = typeof change === 'function' ? change() : change;
        fieldsOf(await server.patch('/realm', as('desdemona'), params as Record<string, unknown>));
      }
      expect(await ask()).toEqual(after);
    },
  );

  it('takes effect or is documented as unused', () => {
    const names = [...Object.keys(STORED_REALM_SETTINGS), ...Object.keys(REALM_PERMISSIONS)];
    expect(Object.keys(EFFECTS).sort()).toEqual(names.sort());
    const unread = Object.entries(EFFECTS).flatMap(([name, effect]) =>
      effect || COVERED_ELSEWHERE.has(name) ? [] : [name],
    );
    expect(unread.sort()).toEqual([...SETTINGS_WITHOUT_READER].sort());
  });
});
