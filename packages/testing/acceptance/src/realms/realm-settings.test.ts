import type { SystemGroupName } from '@parley/domain/access';
import { PromoteFullMembers } from '@parley/domain/groups';
import type { GroupId } from '@parley/domain/kernel';
import { REALM_PERMISSIONS, REALM_SETTINGS, type RealmPermission, type RealmSettingName } from '@parley/domain/realms';
import { permissionTitle, REALM_SETTING_FORMS } from '@parley/http';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { sharedServer, TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
let system: Readonly<Record<SystemGroupName, GroupId>>;
const newOrganization = sharedServer();
async function start(): Promise<void> {
  server = await newOrganization();
  ({ people } = server);
  system = await server.systemGroups();
}

const FOR_ADMINISTRATORS = ['Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
const FOR_OWNERS = ['Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;

const change = (params: object, as: TestUser = people.desdemona) =>
  server.patch('/realm', as, params as Record<string, unknown>);
const registered = async (as: TestUser = people.polonius) =>
  fieldsOf(await server.post('/register', as, { fetch_event_types: ['realm'] })) as Record<string, Wire>;

/** `realm/update` event, or `realm/update_dict` with its related fields. */
const update = (property: string, value: unknown) => ({ type: 'realm', op: 'update', property, value });
const dictionary = (data: object) => ({ type: 'realm', op: 'update_dict', property: 'default', data });

const flags = (names: string, initial: boolean, who = 'A') =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, who, initial, !initial, 'maybe', `${name} is not valid JSON`] as const);
const limit = (name: string, initial: number | null, who = 'A') =>
  [name, who, initial, 7200, '0', `Bad value for '${name}': 0`] as const;
const channel = (name: string) => [name, 'A', -1, 1, '99999', 'Invalid channel ID'] as const;

/**
 * Organization §2.1 and §2.3: name, caller (administrators or owners), default, another value, an invalid value, its
 * error.
 */
const SETTINGS = [
  ['description', 'A', '', 'A *realm*', 'x'.repeat(1001), 'description is too long (limit: 1000 characters)'],
  [
    'welcome_message_custom_text',
    'A',
    '',
    'Hi',
    '🐙'.repeat(8001),
    'welcome_message_custom_text is too long (limit: 8000 characters)',
  ],
  ['default_language', 'A', 'en', 'de', 'tlh', "Invalid language 'tlh'"],
  [
    'default_code_block_language',
    'A',
    '',
    'python',
    'x'.repeat(101),
    'default_code_block_language is too long (limit: 100 characters)',
  ],
  ['org_type', 'A', 0, 1000, '5', 'Invalid org_type'],
  ...flags('invite_required disallow_disposable_email_addresses', true, 'O'),
  ...flags('emails_restricted_to_domains', false, 'O'),
  ['waiting_period_threshold', 'O', 0, 3, '-1', 'waiting_period_threshold is too small'],
  ...flags('require_unique_names name_changes_disabled email_changes_disabled avatar_changes_disabled', false),
  ...flags('keep_file_metadata', false),
  ['search_languages', 'A', '', 'de,fr', 'de,xx', "Invalid search_languages 'de,xx'"],
  ['second_factor_required_for', 'O', 'nobody', 'administrators', 'robots', 'Invalid second_factor_required_for'],
  ...flags('inline_image_preview', true),
  ...flags('inline_url_embed_preview', false),
  ['media_preview_size', 'A', 100, 150, '120', 'Invalid media_preview_size'],
  ...flags('allow_message_editing', true),
  limit('message_content_edit_limit_seconds', 600),
  limit('message_content_delete_limit_seconds', 600),
  limit('move_messages_within_stream_limit_seconds', 604800),
  limit('move_messages_between_streams_limit_seconds', 604800),
  limit('message_retention_days', -1, 'O'),
  [
    'message_edit_history_visibility_policy',
    'A',
    'all',
    'none',
    'some',
    'Invalid message_edit_history_visibility_policy',
  ],
  ['topics_policy', 'A', 'allow_empty_topic', 'disable_empty_topic', 'inherit', 'Invalid topics_policy'],
  ...flags('digest_emails_enabled', false),
  ['digest_weekday', 'A', 1, 6, '7', 'Invalid digest_weekday'],
  ...flags('send_welcome_emails send_channel_events_messages message_content_allowed_in_email_notifications', true),
  ...flags('enable_read_receipts', false),
  ...flags('enable_guest_user_indicator enable_guest_user_dm_warning', true),
  ...flags('enable_spectator_access want_advertise_in_communities_directory require_e2ee_push_notifications', false),
  ['video_chat_provider', 'A', 1, 0, '99', 'Invalid video_chat_provider 99'],
  ['jitsi_server_url', 'A', null, '"https://meet.example.com"', '"meet"', 'jitsi_server_url is not an allowed_type'],
  ['gif_rating_policy', 'A', 2, 5, '6', 'Invalid gif_rating_policy 6'],
  ['default_avatar_source', 'A', 'J', 'G', 'U', 'Invalid default_avatar_source'],
  channel('new_stream_announcements_stream_id'),
  channel('signup_announcements_stream_id'),
  channel('zulip_update_announcements_stream_id'),
  channel('moderation_request_channel_id'),
] as const;

/** Settings published in a dictionary, with the related fields (organization §2.1). */
const ALONG: Readonly<Record<string, object>> = {
  description: { rendered_description: '<p>A <em>realm</em></p>' },
  allow_message_editing: {},
  message_content_edit_limit_seconds: {},
  topics_policy: { mandatory_topics: true },
};

/** Published value; strings sent as JSON lose their quotes. */
const told = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('"') ? JSON.parse(value) : value;

/** System groups that a permission rejects in addition to the group of everyone on the Internet (organization §2.2). */
const NO_GUESTS = ['everyone'] as const;
const SOMEBODY = ['everyone', 'nobody'] as const;
const WITH_MEMBERS = ['nobody', 'owners', 'administrators', 'moderators', 'fullMembers'] as const;
const MODERATORS_AT_MOST = ['everyone', 'members', 'fullMembers'] as const;

/** Organization §2.2: name, default, caller, another group, rejected groups. */
const PERMISSIONS = [
  ['create_multiuse_invite_group', 'administrators', 'O', 'members', NO_GUESTS],
  ['can_invite_users_group', 'members', 'O', 'nobody', NO_GUESTS],
  ['can_create_groups', 'members', 'O', 'nobody', NO_GUESTS],
  ['can_manage_all_groups', 'owners', 'O', 'moderators', SOMEBODY],
  ['can_manage_billing_group', 'administrators', 'O', 'owners', SOMEBODY],
  ['can_access_all_users_group', 'everyone', 'A', 'members', WITH_MEMBERS],
  ['can_create_web_public_channel_group', 'owners', 'A', 'nobody', MODERATORS_AT_MOST],
  ['can_create_public_channel_group', 'members', 'A', 'fullMembers', NO_GUESTS],
  ['can_create_private_channel_group', 'members', 'A', 'moderators', NO_GUESTS],
  ['can_add_subscribers_group', 'members', 'A', 'nobody', NO_GUESTS],
  ['can_add_custom_emoji_group', 'members', 'A', 'administrators', NO_GUESTS],
  ['can_create_bots_group', 'members', 'A', 'nobody', NO_GUESTS],
  ['can_create_write_only_bots_group', 'members', 'A', 'moderators', NO_GUESTS],
  ['can_delete_any_message_group', 'administrators', 'A', 'nobody', NO_GUESTS],
  ['can_delete_own_message_group', 'everyone', 'A', 'nobody', []],
  ['can_set_delete_message_policy_group', 'moderators', 'A', 'nobody', NO_GUESTS],
  ['can_mention_many_users_group', 'administrators', 'A', 'everyone', []],
  ['can_move_messages_between_channels_group', 'members', 'A', 'nobody', NO_GUESTS],
  ['can_move_messages_between_topics_group', 'everyone', 'A', 'members', []],
  ['can_resolve_topics_group', 'everyone', 'A', 'nobody', []],
  ['can_set_topics_policy_group', 'members', 'A', 'everyone', []],
  ['can_summarize_topics_group', 'everyone', 'A', 'nobody', []],
  ['direct_message_initiator_group', 'everyone', 'A', 'nobody', []],
  ['direct_message_permission_group', 'everyone', 'A', 'nobody', []],
  ['workplace_users_group', 'everyone', 'A', 'members', []],
] as const;

const NEEDS_SYSTEM_GROUP: readonly string[] = ['can_access_all_users_group', 'can_create_web_public_channel_group'];

const aChannel = () => server.createChannel('general', [people.desdemona]);

/** Shares one server, because settings are independent. */
describe('organization setting', () => {
  beforeAll(async () => {
    await start();
    await aChannel();
  });
  // Queues per user are limited; advancing the clock makes those of earlier tests the oldest.
  beforeEach(() => server.clock.advance(1));

  it.each(SETTINGS)('changes %s (%s) from %j to %j', async (name, who, initial, other) => {
    // Settings that Zulip does not have are omitted until they are used.
    const before = ['second_factor_required_for', 'search_languages', 'keep_file_metadata'].includes(name)
      ? {}
      : { [`realm_${name}`]: initial };
    expect(await registered()).toMatchObject(before);
    const queue = await openQueue(server, people.polonius, { event_types: ['realm'] });
    const response = { [name]: typeof other === 'string' ? 'updated' : other };
    expect(fieldsOf(await change({ [name]: other }, who === 'O' ? people.desdemona : people.iago))).toEqual(response);
    expect(await registered()).toMatchObject({ [`realm_${name}`]: told(other) });
    const along = ALONG[name];
    const event = along ? dictionary({ [name]: other, ...along }) : update(name, told(other));
    expect(await eventsAfter(server, queue)).toEqual([event]);
    // Deliberate: an unchanged value is not published, except for the organization type, which is always written.
    expect(fieldsOf(await change({ [name]: other }))).toEqual(name === 'org_type' ? response : {});
    expect(await eventsAfter(server, queue)).toHaveLength(name === 'org_type' ? 2 : 1);
  });

  it.each(PERMISSIONS)('changes %s from %s (%s) to %s', async (name, initial, _who, other) => {
    expect(await registered()).toMatchObject({ [`realm_${name}`]: system[initial] });
    const queue = await openQueue(server, people.polonius, { event_types: ['realm'] });
    const reply = await change({ [name]: { new: system[other], old: system[initial] } });
    expect(fieldsOf(reply)).toEqual({ [name]: system[other] });
    expect(await registered()).toMatchObject({ [`realm_${name}`]: system[other] });
    expect(fieldsOf(await change({ [name]: { new: system[other] } }))).toEqual({});
    expect(await eventsAfter(server, queue)).toEqual([dictionary({ [name]: system[other] })]);
    expectRefusal(
      await change({ [name]: { new: system[initial], old: system[initial] } }),
      "'old' value does not match the expected value.",
      { code: 'EXPECTATION_MISMATCH' },
    );
  });

  it.each(SETTINGS)(
    'accepts for %s (%s) %j or %j and rejects %s: %s',
    async (name, _who, _initial, _other, bad, msg) => {
      const { commits } = server.storage;
      const isBadValue = msg.startsWith('Bad value');
      const refusal = isBadValue ? { code: 'REQUEST_VARIABLE_INVALID', var_name: name, bad_value: Number(bad) } : {};
      expectRefusal(await change({ name: 'Another', [name]: bad }), msg, refusal);
      expect(server.storage.commits).toBe(commits);
    },
  );

  it('has a row in this test for every setting', () => {
    const settings = Object.keys(REALM_SETTINGS) as RealmSettingName[];
    const changeable = settings.filter((name) => REALM_SETTINGS[name].changedBy !== 'nobody');
    expect(SETTINGS.map(([name]) => name as string).sort()).toEqual(
      changeable.map((name) => REALM_SETTING_FORMS.nameOf(name)).sort(),
    );
    const permissions = Object.keys(REALM_PERMISSIONS) as RealmPermission[];
    expect(PERMISSIONS.map(([name]) => name as string).sort()).toEqual(permissions.map(permissionTitle).sort());
  });

  it.each(PERMISSIONS)('rejects for %s (%s, %s, %s) the group %j', async (name, _initial, _who, _other, others) => {
    const { commits } = server.storage;
    const isSystem = NEEDS_SYSTEM_GROUP.includes(name);
    const refused: readonly SystemGroupName[] = [...others, 'internet'];
    const refuse = async (value: unknown, msg: string, more?: object) =>
      expectRefusal(await change({ name: 'Another', [name]: { new: value } }), msg, { ...more });
    await refuse(99999, 'Invalid user group');
    const some = { direct_members: [people.hamlet.id], direct_subgroups: [] };
    const required = { code: 'SYSTEM_GROUP_REQUIRED', setting_name: name };
    if (isSystem) await refuse(some, `'${name}' must be a system user group.`, required);
    else await refuse({ ...some, direct_members: [99999] }, 'Invalid user ID: 99999');
    for (const group of refused) {
      await refuse(system[group], `'${name}' setting cannot be set to 'role:${group.toLowerCase()}' group.`);
    }
    expect(server.storage.commits).toBe(commits);
    const groups = (Object.keys(system) as SystemGroupName[]).filter((group) => !refused.includes(group));
    for (const group of groups) fieldsOf(await change({ [name]: { new: system[group] } }));
  });

  it.each<[string, string]>([
    ...SETTINGS.map(([name, who]) => [name, who]),
    ...PERMISSIONS.map(([name, , who]) => [name, who]),
  ] as [string, string][])('%s requires the documented role (%s), whatever the value', async (name, who) => {
    const isPermission = PERMISSIONS.some(([permission]) => permission === name);
    const fine = isPermission ? { new: system.members } : SETTINGS.find(([setting]) => setting === name)![3];
    for (const as of [people.shiva, people.hamlet, people.polonius]) {
      expectRefusal(await change({ [name]: '{' }, as), ...FOR_ADMINISTRATORS);
    }
    const reply = await change({ [name]: fine }, people.iago);
    if (who === 'O') expectRefusal(reply, ...FOR_OWNERS);
    else expect(reply.body.code).not.toBe('UNAUTHORIZED_PRINCIPAL');
  });
});

describe('PATCH /realm', () => {
  beforeEach(start);

  it('changes several settings in the order of the contract', async () => {
    const id = await aChannel();
    const queue = await openQueue(server, people.hamlet, { event_types: ['realm'] });
    const fields = fieldsOf(
      await change({
        org_type: 0,
        signup_announcements_stream_id: id,
        can_create_groups: { new: system.moderators },
        require_unique_names: true,
        allow_message_editing: false,
        move_messages_between_streams_limit_seconds: '"unlimited"',
        authentication_methods: { GitHub: true },
        name: 'New name',
        colour: 'red',
      }),
    );
    expect(fields).toEqual({
      org_type: 0,
      signup_announcements_stream_id: id,
      can_create_groups: system.moderators,
      require_unique_names: true,
      allow_message_editing: false,
      move_messages_between_streams_limit_seconds: null,
      authentication_methods: { GitHub: true },
      name: 'updated',
      ignored_parameters_unsupported: ['colour'],
    });
    const told = (await eventsAfter(server, queue)).map(({ property, data }) => (data ? Object.keys(data) : property));
    expect(told).toEqual([
      'name',
      'move_messages_between_streams_limit_seconds',
      ['allow_message_editing'],
      'require_unique_names',
      ['can_create_groups'],
      ['authentication_methods'],
      'signup_announcements_stream_id',
      'org_type',
    ]);
  });

  it('publishes clearing a channel even if none was set', async () => {
    const queue = await openQueue(server, people.hamlet, { event_types: ['realm'] });
    const cleared = { signup_announcements_stream_id: -1, moderation_request_channel_id: -1 };
    expect(fieldsOf(await change(cleared))).toEqual(cleared);
    const told = (await eventsAfter(server, queue)).map(({ property, value }) => [property, value]);
    expect(told).toEqual(expect.arrayContaining(Object.entries(cleared)));
  });

  it('changes nothing if one value is invalid', async () => {
    const { commits } = server.storage;
    const wrong = { can_create_groups: { new: system.nobody, old: system.owners } };
    expectRefusal(await change({ name: 'x', require_unique_names: true, ...wrong }), expect.any(String) as never, {
      code: 'EXPECTATION_MISMATCH',
    });
    expect(server.storage.commits).toBe(commits);
  });

  it('validates in the order of the contract', async () => {
    const { iago, desdemona } = people;
    const wrong: [string, unknown, string, Record<string, unknown>?][] = [
      ['invite_required', 'maybe', 'invite_required is not valid JSON'],
      ['default_language', 'tlh', "Invalid language 'tlh'"],
      ['authentication_methods', { Telepathy: true }, ...FOR_OWNERS],
      ['video_chat_provider', 99, 'Invalid video_chat_provider 99'],
      ['gif_rating_policy', 99, 'Invalid gif_rating_policy 99'],
      ['message_retention_days', 0, ...FOR_OWNERS],
    ];
    for (let first = 0; first < wrong.length; first++) {
      const request = Object.fromEntries(wrong.slice(first).map(([name, value]) => [name, value]));
      const [, , msg, more] = wrong[first]!;
      expectRefusal(await change(request, iago), msg, more);
    }
    const owners = { authentication_methods: { Telepathy: true }, video_chat_provider: 99 };
    expect((await change(owners, desdemona)).body.msg).toMatch(/^Invalid authentication method: Telepathy\./);
  });

  it('returns success for an empty request', async () => {
    const queue = await openQueue(server, people.hamlet);
    expect(fieldsOf(await change({}))).toEqual({});
    expect(await eventsAfter(server, queue)).toEqual([]);
  });

  it("changes only the caller's organization", async () => {
    const other = await server.addRealm('other');
    const before = await server.storage.uow.read(other, ({ realms }) => realms.get(other));
    await change({ name: 'New', enable_read_receipts: true, can_create_groups: { new: system.nobody } });
    expect(await server.storage.uow.read(other, ({ realms }) => realms.get(other))).toEqual(before);
  });

  describe('name', () => {
    it('publishes the name to everyone', async () => {
      const queue = await openQueue(server, people.polonius);
      expect(fieldsOf(await change({ name: 'Elsinore' }, people.iago))).toEqual({ name: 'updated' });
      expect(fieldsOf(await change({ name: 'Elsinore' }, people.iago))).toEqual({});
      expect(await eventsAfter(server, queue)).toEqual([update('name', 'Elsinore')]);
      expect(await registered()).toMatchObject({ realm_name: 'Elsinore' });
    });

    it.each([
      ['', 'name cannot be blank'],
      ['é'.repeat(41), 'name is too long (limit: 40 characters)'],
    ])('responds to %j with %s', async (name, msg) => expectRefusal(await change({ name }), msg));
  });

  it('changes the string id of demo organizations only', async () => {
    expectRefusal(await change({ string_id: 'elsinore' }), 'Must be a demo organization.');
    expectRefusal(await change({ string_id: 'elsinore' }, people.iago), ...FOR_OWNERS);
  });

  describe('time limit for editing and deleting', () => {
    it.each(['message_content_edit_limit_seconds', 'message_content_delete_limit_seconds'])(
      '%s can be unlimited',
      async (name) => {
        expect(fieldsOf(await change({ [name]: '"unlimited"' }))).toEqual({ [name]: null });
        expect(await registered()).toMatchObject({ [`realm_${name}`]: null });
      },
    );

    it('publishes an unlimited message retention as -1', async () => {
      await change({ message_retention_days: 30 });
      expect(fieldsOf(await change({ message_retention_days: '"unlimited"' }))).toEqual({ message_retention_days: -1 });
    });

    it.each([
      ['-10', -10],
      ['-1', -1],
      ['"invalid"', 'invalid'],
    ])('rejects %s', async (given, value) => {
      for (const name of ['message_retention_days', 'message_content_edit_limit_seconds']) {
        expectRefusal(await change({ [name]: given }), `Bad value for '${name}': ${value}`, {
          code: 'REQUEST_VARIABLE_INVALID',
          var_name: name,
          bad_value: value,
        });
      }
    });
  });

  describe('jitsi_server_url', () => {
    const setUrl = (url: string) => change({ jitsi_server_url: JSON.stringify(url) });

    it('accepts another server or the default server', async () => {
      const queue = await openQueue(server, people.hamlet);
      expect(fieldsOf(await setUrl('https://meet.example.com'))).toEqual({ jitsi_server_url: 'updated' });
      expect(await registered()).toMatchObject({
        realm_jitsi_server_url: 'https://meet.example.com',
        jitsi_server_url: 'https://meet.example.com',
      });
      expect(fieldsOf(await setUrl('default'))).toEqual({ jitsi_server_url: null });
      expect(await eventsAfter(server, queue)).toEqual([
        update('jitsi_server_url', 'https://meet.example.com'),
        update('jitsi_server_url', null),
      ]);
    });

    it.each(['not a url', '', 'javascript:alert(1)', 'https://', `https://x.example/${'a'.repeat(200)}`])(
      'rejects %j',
      async (url) => expectRefusal(await setUrl(url), 'jitsi_server_url is not an allowed_type'),
    );
  });

  describe('notification channel', () => {
    const NAME = 'moderation_request_channel_id';

    it('is cleared by any negative number', async () => {
      await change({ [NAME]: await aChannel() });
      const queue = await openQueue(server, people.hamlet);
      expect(fieldsOf(await change({ [NAME]: -5 }))).toEqual({ [NAME]: -1 });
      expect(await eventsAfter(server, queue)).toEqual([update(NAME, -1)]);
    });

    it('requires an active channel of the organization', async () => {
      expectRefusal(await change({ [NAME]: 0 }), 'Invalid channel ID');
      const id = await aChannel();
      await server.storage.uow.write(server.realmId, async (tx) => {
        const found = (await tx.channels.find(server.realmId, id as never))!;
        await tx.channels.update({ ...found, isArchived: true });
      });
      expectRefusal(await change({ [NAME]: id }), 'Invalid channel ID');
    });
  });

  describe('waiting_period_threshold', () => {
    const fullMembers = () =>
      server.storage.uow.read(server.realmId, ({ groups }) =>
        groups.listDirectMembers(server.realmId, system.fullMembers),
      );

    it('updates full members immediately', async () => {
      const { hamlet, cordelia } = people;
      expect(await fullMembers()).toEqual([hamlet.id, cordelia.id]);
      await change({ waiting_period_threshold: 3 });
      expect(await fullMembers()).toEqual([]);
      await change({ waiting_period_threshold: 0 });
      expect(await fullMembers()).toEqual([hamlet.id, cordelia.id]);
    });
  });

  describe('full member in private channels (channels §6.3)', () => {
    const EVENTS = ['stream', 'subscription'];
    const told = async (queue: Wire) =>
      (await eventsAfter(server, queue)).map(({ op, streams, stream_ids, user_ids }) => [
        op,
        streams?.map(({ stream_id }: Wire) => stream_id) ?? stream_ids,
        ...(user_ids ? [user_ids] : []),
      ]);
    const show = () => server.get(`/streams/${closed}`, people.hamlet);
    let closed: number;
    beforeEach(async () => {
      closed = await server.createChannel('closed', [people.shiva], {
        invite_only: true,
        can_subscribe_group: system.fullMembers,
      });
    });

    it('loses and gains channels with a change of the waiting period', async () => {
      const { hamlet, shiva, desdemona } = people;
      const queue = await openQueue(server, hamlet, { event_types: EVENTS });
      const others = await Promise.all(
        [shiva, desdemona].map((who) => openQueue(server, who, { event_types: EVENTS })),
      );
      await change({ waiting_period_threshold: 3 });
      expectRefusal(await show(), 'Invalid channel ID');
      expect(await told(queue)).toEqual([['delete', [closed]]]);
      await change({ waiting_period_threshold: 0 });
      fieldsOf(await show());
      const gained = [
        ['create', [closed]],
        ['peer_add', [closed], [shiva.id]],
      ];
      expect((await told(queue)).slice(-2)).toEqual(gained);
      expect(await Promise.all(others.map(told))).toEqual([[], []]);
    });

    it('gains channels as time passes', async () => {
      await change({ waiting_period_threshold: 3 });
      const queue = await openQueue(server, people.hamlet, { event_types: EVENTS });
      server.clock.advance(3 * 86_400);
      await server.parley.useCase(PromoteFullMembers).execute();
      expect(await told(queue)).toEqual([
        ['create', [closed]],
        ['peer_add', [closed], [people.shiva.id]],
      ]);
    });
  });

  describe('organization permission', () => {
    it('accepts individual users and groups', async () => {
      const { hamlet, cordelia } = people;
      const value = { direct_members: [hamlet.id, cordelia.id], direct_subgroups: [system.moderators] };
      const name = 'can_create_groups';
      const unordered = { direct_members: [cordelia.id, hamlet.id, hamlet.id], direct_subgroups: [system.moderators] };
      expect(fieldsOf(await change({ [name]: { new: unordered } }))).toEqual({ [name]: value });
      expect(await registered()).toMatchObject({ [`realm_${name}`]: value });
      expect(fieldsOf(await change({ [name]: { new: value, old: unordered } }))).toEqual({});
      const subgroup = { direct_members: [], direct_subgroups: [system.owners] };
      expect(fieldsOf(await change({ [name]: { new: subgroup, old: value } }))).toEqual({ [name]: system.owners });
      const empty = { direct_members: [], direct_subgroups: [] };
      expect(fieldsOf(await change({ [name]: { new: empty } }))).toEqual({ [name]: system.nobody });
    });

    it('requires an object with a new value', async () => {
      expectRefusal(await change({ can_create_groups: 7 }), 'can_create_groups is not a dict');
      expectRefusal(await change({ can_create_groups: {} }), 'new key is missing from can_create_groups');
    });

    it('reports groups of another organization as unknown', async () => {
      const realmId = await server.addRealm('other');
      const theirs = await server.storage.uow.read(realmId, ({ groups }) => groups.systemGroupIds(realmId));
      expectRefusal(await change({ can_create_groups: { new: theirs.owners } }), 'Invalid user group');
    });

    it('applies immediately', async () => {
      await change({ can_create_public_channel_group: { new: system.administrators } });
      const reply = await server.post('/channels/create', people.hamlet, { name: 'x', subscribers: [] });
      expectRefusal(reply, 'Insufficient permission');
    });
  });

  describe('authentication_methods', () => {
    const set = (methods: object) => change({ authentication_methods: methods });
    const signIn = () =>
      server.post('/fetch_api_key', null, { username: people.hamlet.email, password: people.hamlet.password });

    it('enables and disables password login', async () => {
      const queue = await openQueue(server, people.polonius);
      expect(fieldsOf(await set({ Email: false, GitHub: true }))).toEqual({
        authentication_methods: { Email: false, GitHub: true },
      });
      expectRefusal(await signIn(), 'Password authentication is disabled in this organization', {
        status: 401,
        code: 'PASSWORD_AUTH_DISABLED',
      });
      const { realm_authentication_methods: methods, realm_password_auth_enabled } = await registered();
      expect(methods).toMatchObject({
        Email: { enabled: false, available: true },
        GitHub: { enabled: true, available: false },
        Dev: { enabled: true, available: true },
      });
      expect(realm_password_auth_enabled).toBe(false);
      expect(await eventsAfter(server, queue)).toEqual([dictionary({ authentication_methods: methods })]);
      expect((await server.get('/server_settings', null)).body).toMatchObject({
        email_auth_enabled: false,
        authentication_methods: { password: false, email: false },
      });
      await set({ Email: true });
      expect((await signIn()).status).toBe(200);
    });

    it('changes nothing without differences', async () => {
      expect(fieldsOf(await set({ Email: true, SAML: false }))).toEqual({});
    });

    it('requires known methods and at least one', async () => {
      expectRefusal(
        await set({ Email: true, Telepathy: true }),
        'Invalid authentication method: Telepathy. Valid methods are: Apple, Dev, Email, GitHub, GitLab, Google, LDAP, OpenID Connect, SAML',
      );
      expectRefusal(await set({ emailAuthentication: false }), expect.stringMatching(/^Invalid auth/) as never);
      expectRefusal(await set({ Email: false }), 'At least one authentication method must be enabled.');
      expectRefusal(await set({}), 'At least one authentication method must be enabled.');
      expectRefusal(await set({ Email: 1 }), 'authentication_methods["Email"] is not a boolean');
    });

    it('rejects a change that leaves only methods that the server does not offer', async () => {
      const production = await TestServer.start({ isDev: false, jwtSecrets: new Map() });
      const setThere = (methods: object) =>
        production.patch('/realm', production.people.desdemona, { authentication_methods: methods });
      for (const methods of [
        { Email: false, Dev: true },
        { Email: false, GitHub: true, LDAP: true, SAML: true },
      ]) {
        expectRefusal(await setThere(methods), 'At least one authentication method must be enabled.');
      }
      expect(fieldsOf(await setThere({ Email: true, GitHub: true }))).toMatchObject({
        authentication_methods: { GitHub: true },
      });
      await production.close();
    });
  });
});

describe('client state from events', () => {
  beforeEach(start);

  /** Fields that clients derive from other fields, or that no event updates (events §5.2). */
  const DERIVED =
    /^realm_(create_\w+_stream|wildcard_mention)_policy$|^realm_(email|password)_auth_enabled$|^(realm_rendered_description|jitsi_server_url|queue_id|last_event_id)$/;

  const known = (state: Record<string, Wire>) =>
    Object.fromEntries(Object.entries(state).filter(([name]) => !DERIVED.test(name)));

  function apply(state: Record<string, Wire>, event: Wire): void {
    if (event.type === 'realm') {
      const data = event.op === 'update' ? { [event.property]: event.value } : event.data;
      for (const [name, value] of Object.entries(data)) state[`realm_${name}`] = value;
      // A client derives this field (events §9).
      state.realm_allow_edit_history = state.realm_message_edit_history_visibility_policy !== 'none';
    } else {
      state[event.type][event.property] = event.value;
    }
  }

  const SECTIONS = { fetch_event_types: ['realm', 'user_settings', 'realm_user_settings_defaults'] };

  it.each(['desdemona', 'iago', 'hamlet', 'polonius'] as const)(
    'equals a fresh register response for %s',
    async (name) => {
      const id = await aChannel();
      const queue = await openQueue(server, people[name], SECTIONS);
      for (const [setting, , , other] of SETTINGS) fieldsOf(await change({ [setting]: other === 1 ? id : other }));
      for (const [permission, , , other] of PERMISSIONS)
        fieldsOf(await change({ [permission]: { new: system[other] } }));
      await change({ authentication_methods: { Email: false, SAML: true }, name: 'Elsinore' });
      const preferences = { enter_sends: true, color_scheme: 2, web_home_view: 'recent', timezone: 'Asia/Tokyo' };
      await server.patch('/settings', people[name], preferences);
      await server.patch('/realm/user_settings_defaults', people.iago, { enter_sends: true, user_list_style: 1 });
      const state = { ...queue.registered };
      const events = await eventsAfter(server, queue);
      for (const event of events) if (!['realm_user', 'user_group'].includes(event.type)) apply(state, event);
      const fresh = fieldsOf(await server.post('/register', people[name], SECTIONS));
      expect(known(state)).toEqual(known(fresh));
    },
  );
});
