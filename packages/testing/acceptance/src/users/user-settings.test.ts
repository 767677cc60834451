import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed } from '../testing/expectations.js';
import { sharedServer, TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
const newOrganization = sharedServer();
async function start(): Promise<void> {
  server = await newOrganization();
  ({ people } = server);
}

const ADMINISTRATORS_ONLY = { code: 'UNAUTHORIZED_PRINCIPAL' };
const flags = (names: string, initial: boolean) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, initial, !initial, '1', `${name} is not a boolean`] as const);
const codes = (name: string, initial: number, other: number, most: number) =>
  [name, initial, other, String(most + 1), notListed(name)] as const;

/** Users §6.1: name, default, another value, an invalid value, its error. */
const SETTINGS = [
  ...flags('allow_private_data_export', false),
  codes('automatically_follow_topics_policy', 3, 1, 4),
  ...flags('automatically_follow_topics_where_mentioned', true),
  codes('automatically_unmute_topics_in_muted_streams_policy', 2, 4, 4),
  codes('color_scheme', 1, 2, 3),
  ['default_language', 'en', 'de', 'tlh', 'Invalid default_language'],
  codes('demote_inactive_streams', 1, 3, 3),
  codes('desktop_icon_count_display', 1, 4, 4),
  ...flags('display_emoji_reaction_users', true),
  codes('email_address_visibility', 1, 3, 5),
  [
    'email_notifications_batching_period_seconds',
    120,
    604800,
    '604801',
    'Invalid email batching period: 604801 seconds',
  ],
  ['emojiset', 'google', 'google-blob', 'apple', notListed('emojiset')],
  ...flags('enable_desktop_notifications enable_digest_emails enable_drafts_synchronization', true),
  ...flags('enable_followed_topic_audible_notifications enable_followed_topic_desktop_notifications', true),
  ...flags('enable_followed_topic_email_notifications enable_followed_topic_push_notifications', true),
  ...flags('enable_followed_topic_wildcard_mentions_notify enable_login_emails enable_marketing_emails', true),
  ...flags('enable_offline_email_notifications enable_offline_push_notifications', true),
  ...flags('enable_online_push_notifications enable_sounds', true),
  ...flags('enable_stream_audible_notifications enable_stream_desktop_notifications', false),
  ...flags('enable_stream_email_notifications enable_stream_push_notifications enter_sends', false),
  ...flags('fluid_layout_width hide_ai_features high_contrast_mode left_side_userlist', false),
  ...flags('message_content_in_email_notifications', true),
  ['notification_sound', 'zulip', 'deep tom', 'bang', "Invalid notification sound 'bang'"],
  ...flags('pm_content_in_desktop_notifications presence_enabled', true),
  codes('realm_name_in_email_notifications_policy', 1, 2, 3),
  ...flags('receives_typing_notifications', true),
  [
    'resolved_topic_notice_auto_read_policy',
    'except_followed',
    'always',
    'sometimes',
    'Invalid resolved_topic_notice_auto_read_policy',
  ],
  ...flags('send_private_typing_notifications send_stream_typing_notifications send_read_receipts', true),
  ...flags('starred_message_counts', true),
  ...flags('translate_emoticons twenty_four_hour_time', false),
  codes('user_list_style', 3, 1, 3),
  ['web_animate_image_previews', 'on_hover', 'never', 'onHover', notListed('web_animate_image_previews')],
  codes('web_channel_default_view', 1, 4, 4),
  ...flags('web_escape_navigates_to_home_view', true),
  ['web_font_size_px', 16, 14, '"14"', 'web_font_size_px is not an integer'],
  ['web_home_view', 'inbox', 'all_messages', 'recent_topics', notListed('web_home_view')],
  ...flags('web_inbox_show_channel_folders web_left_sidebar_show_channel_folders', true),
  ...flags('web_left_sidebar_unreads_count_summary', true),
  ['web_line_height_percent', 140, 122, '1.5', 'web_line_height_percent is not an integer'],
  codes('web_mark_read_on_scroll_policy', 1, 3, 3),
  ...flags('web_navigate_to_sent_message', true),
  codes('web_stream_unreads_count_display_policy', 2, 1, 3),
  ...flags('web_suggest_update_timezone wildcard_mentions_notify', true),
  ['timezone', '', 'Europe/Berlin', 'Mars/Olympus', 'Invalid timezone: Value error, Not a recognized time zone'],
] as const;

const PATH = '/realm/user_settings_defaults';
const WITHOUT_DEFAULT: readonly string[] = [
  'allow_private_data_export',
  'default_language',
  'enable_login_emails',
  'enable_marketing_emails',
  'timezone',
];
const DEFAULTS = SETTINGS.filter(([name]) => !WITHOUT_DEFAULT.includes(name));

const registered = async (as: TestUser, section: 'user_settings' | 'realm_user_settings_defaults') =>
  fieldsOf(await server.post('/register', as, { fetch_event_types: [section] }))[section] as Record<string, unknown>;

/** Shares one server, because settings are independent. */
describe('user setting', () => {
  beforeAll(start);
  // Queues per user are limited; advancing the clock makes those of earlier tests the oldest.
  beforeEach(() => server.clock.advance(1));

  it('has a default for a new user, and no other setting exists', async () => {
    const { emojiset_choices, available_notification_sounds, ...settings } = await registered(
      people.hamlet,
      'user_settings',
    );
    expect(settings).toEqual(Object.fromEntries(SETTINGS.map(([name, initial]) => [name, initial])));
    expect(emojiset_choices).toHaveLength(3);
    expect(available_notification_sounds).toHaveLength(30);
    expect(available_notification_sounds).toEqual([...(available_notification_sounds as string[])].sort());
  });

  describe('PATCH /settings', () => {
    it.each(SETTINGS)('changes %s from %j to %j', async (name, initial, other) => {
      const { polonius, hamlet } = people;
      const queue = await openQueue(server, polonius);
      const others = await openQueue(server, hamlet, { event_types: ['user_settings'] });
      expect(fieldsOf(await server.patch('/settings', polonius, { [name]: initial || other }))).toEqual({});
      expect(fieldsOf(await server.patch('/settings', polonius, { [name]: other }))).toEqual({});
      expect(await registered(polonius, 'user_settings')).toMatchObject({ [name]: other });
      expect(await registered(hamlet, 'user_settings')).toMatchObject({ [name]: initial });
      const [first, ...rest] = await eventsAfter(server, queue);
      expect(first).toEqual({
        type: 'user_settings',
        op: 'update',
        property: name,
        value: other,
        ...(name === 'default_language' && { language_name: 'Deutsch' }),
      });
      expect(rest.filter(({ type }) => type === 'user_settings')).toEqual([]);
      expect(await eventsAfter(server, others)).toEqual([]);
    });

    it.each(SETTINGS)(
      'rejects for %s, which is %j or %j, the value %j: %s',
      async (name, _initial, other, bad, msg) => {
        const { commits } = server.storage;
        expectRefusal(await server.patch('/settings', people.hamlet, { translate_emoticons: true, [name]: bad }), msg);
        expectRefusal(await server.patch('/settings', people.hamlet, { full_name: 'Prince', [name]: bad }), msg);
        expect(server.storage.commits).toBe(commits);
        expect(other).not.toBe(bad);
      },
    );
  });

  describe('PATCH /realm/user_settings_defaults', () => {
    it.each(DEFAULTS)('changes %s from %j to %j', async (name, initial, other) => {
      const { iago, polonius } = people;
      const queue = await openQueue(server, polonius);
      expect(fieldsOf(await server.patch(PATH, iago, { [name]: initial }))).toEqual({});
      expect(fieldsOf(await server.patch(PATH, iago, { [name]: other }))).toEqual({});
      expect(await registered(polonius, 'realm_user_settings_defaults')).toMatchObject({ [name]: other });
      expect(await registered(iago, 'user_settings')).toMatchObject({ [name]: initial });
      expect(await eventsAfter(server, queue)).toEqual([
        { type: 'realm_user_settings_defaults', op: 'update', property: name, value: other },
      ]);
      const newcomer = await server.addUser({ email: `${name}@example.com`, fullName: 'New' });
      expect(await registered(newcomer, 'user_settings')).toMatchObject({ [name]: other });
    });

    it.each(DEFAULTS)(
      'rejects for %s, which is %j or %j, the value %j: %s',
      async (name, _initial, _other, bad, msg) => {
        const { commits } = server.storage;
        expectRefusal(await server.patch(PATH, people.desdemona, { enter_sends: true, [name]: bad }), msg);
        expect(server.storage.commits).toBe(commits);
      },
    );
  });
});

describe('PATCH /settings', () => {
  beforeEach(start);

  it('accepts null where the locale decides', async () => {
    fieldsOf(await server.patch('/settings', people.hamlet, { twenty_four_hour_time: 'null' }));
    expect(await registered(people.hamlet, 'user_settings')).toMatchObject({ twenty_four_hour_time: null });
  });

  it.each(['/settings', '/settings/display', '/settings/notifications'])('behaves the same at %s', async (path) => {
    const { hamlet } = people;
    const reply = await server.patch(path, hamlet, { enter_sends: true, dense_mode: true });
    expect(fieldsOf(reply)).toEqual({ ignored_parameters_unsupported: ['dense_mode'] });
    expect(await registered(hamlet, 'user_settings')).toMatchObject({ enter_sends: true });
    expectRefusal(await server.patch(path, null, {}), expect.any(String) as never, {
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('changes and publishes nothing for empty or redundant requests', async () => {
    const { hamlet } = people;
    await server.patch('/settings', hamlet, { enter_sends: false });
    const queue = await openQueue(server, hamlet);
    const stored = () => server.storage.uow.read(server.realmId, ({ users }) => users.find(server.realmId, hamlet.id));
    const before = await stored();
    expect(fieldsOf(await server.patch('/settings', hamlet, {}))).toEqual({});
    expect(fieldsOf(await server.patch('/settings', hamlet, { enter_sends: false }))).toEqual({});
    expect(await eventsAfter(server, queue)).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  it('rejects bots', async () => {
    const { hamlet } = people;
    await server.storage.uow.write(hamlet.user.realmId, (tx) =>
      tx.users.update({
        ...hamlet.user,
        bot: { kind: 'generic', ownerId: people.iago.id, isSystem: false, defaultSendingChannelId: null },
      }),
    );
    const reply = await server.patch('/settings', hamlet, { enter_sends: 'maybe' });
    expectRefusal(reply, 'This endpoint does not accept bot requests.');
  });

  it('publishes a time zone to everyone after the other settings', async () => {
    const { hamlet, polonius } = people;
    const own = await openQueue(server, hamlet);
    const other = await openQueue(server, polonius);
    await server.patch('/settings', hamlet, { timezone: 'Asia/Tokyo', wildcard_mentions_notify: false });
    const person = { user_id: hamlet.id, email: hamlet.email, timezone: 'Asia/Tokyo' };
    const events = await eventsAfter(server, own);
    expect(events.map(({ property, person: told }) => property ?? told)).toEqual([
      'wildcard_mentions_notify',
      'timezone',
      person,
    ]);
    expect(await eventsAfter(server, other)).toEqual([{ type: 'realm_user', op: 'update', person }]);
  });

  it.each(['europe/berlin', '+02:00', 'Berlin', '', 'US/Atlantis', 'x'.repeat(101)])(
    'rejects the time zone %j',
    async (timezone) => {
      expectRefusal(
        await server.patch('/settings', people.hamlet, { timezone }),
        'Invalid timezone: Value error, Not a recognized time zone',
      );
    },
  );

  it.each(['US/Pacific', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])(
    'accepts the time zone %s',
    async (timezone) => {
      fieldsOf(await server.patch('/settings', people.hamlet, { timezone }));
    },
  );

  describe('email visibility', () => {
    const update = (person: object) => ({ type: 'realm_user', op: 'update', person });
    const show = (email_address_visibility: number) =>
      server.patch('/settings', people.hamlet, { email_address_visibility });

    it('notifies users who gain or lose access to the email', async () => {
      const { hamlet, iago, cordelia, shiva } = people;
      const { id: user_id, email } = hamlet;
      await show(3);
      const queues = { iago, shiva, cordelia };
      const opened = await Promise.all(Object.values(queues).map((who) => openQueue(server, who)));
      await show(2);
      const seen = await Promise.all(opened.map((queue) => eventsAfter(server, queue)));
      const appears = update({ user_id, delivery_email: email });
      expect(seen).toEqual([[], [appears], [appears]]);
      await show(4);
      const vanishes = update({ user_id, delivery_email: null });
      for (const queue of opened) expect(await eventsAfter(server, queue)).toContainEqual(vanishes);
    });

    it('publishes the dummy email and the dependent avatar to everyone', async () => {
      const { hamlet, polonius } = people;
      const own = await openQueue(server, hamlet);
      const guest = await openQueue(server, polonius);
      const { id: user_id } = hamlet;
      await show(4);
      const dummy = update({ user_id, new_email: `user${user_id}@parley.invalid` });
      const picture = expect.objectContaining({ user_id, avatar_version: 1, avatar_source: 'J' });
      expect(await eventsAfter(server, own)).toEqual([
        { type: 'user_settings', op: 'update', property: 'email_address_visibility', value: 4 },
        dummy,
        update(picture),
      ]);
      expect(await eventsAfter(server, guest)).toEqual([
        update({ user_id, delivery_email: null }),
        dummy,
        update(picture),
      ]);
      await show(1);
      expect((await eventsAfter(server, guest))[3]).toEqual(update({ user_id, delivery_email: hamlet.email }));
    });
  });

  describe('full_name', () => {
    const rename = (full_name: string, as = people.hamlet, more = {}) =>
      server.patch('/settings', as, { full_name, ...more });
    const set = (settings: object) => server.changeRealm({ settings });

    it('changes the name and notifies everyone', async () => {
      const { hamlet, polonius } = people;
      const queue = await openQueue(server, polonius);
      expect(fieldsOf(await rename(' Prince Hamlet '))).toEqual({});
      fieldsOf(await rename('Prince Hamlet'));
      expect(await eventsAfter(server, queue)).toEqual([
        { type: 'realm_user', op: 'update', person: { user_id: hamlet.id, full_name: 'Prince Hamlet' } },
      ]);
      expect((await server.get('/users/me', hamlet)).body.full_name).toBe('Prince Hamlet');
    });

    it.each([
      ['', 'Name too short!'],
      ['x'.repeat(101), 'Name too long!'],
      ['a*b', 'Invalid characters in name!'],
      ['name|12', 'Invalid format!'],
    ])('rejects %j along with all other changes in the request', async (name, msg) => {
      expectRefusal(await rename(name, people.hamlet, { enter_sends: true }), msg);
      expect(await registered(people.hamlet, 'user_settings')).toMatchObject({ enter_sends: false });
    });

    it('ignores the name if users may not change it, except administrators', async () => {
      await set({ nameChangesDisabled: true });
      expect(fieldsOf(await rename('Prince', people.hamlet, { enter_sends: true }))).toEqual({});
      expect((await server.get('/users/me', people.hamlet)).body.full_name).toBe('King Hamlet');
      fieldsOf(await rename('Iago the Second', people.iago));
      expect((await server.get('/users/me', people.iago)).body.full_name).toBe('Iago the Second');
    });

    it('enforces uniqueness if required', async () => {
      await set({ requireUniqueNames: true });
      expectRefusal(await rename('iago'), 'Unique names required in this organization.');
      fieldsOf(await rename('KING HAMLET'));
    });
  });

  describe('email', () => {
    const to = (email: string, as = people.hamlet) => server.patch('/settings', as, { email });

    it('ignores an unchanged email', async () => {
      expect(fieldsOf(await to(` ${people.hamlet.email} `))).toEqual({});
    });

    it.each([
      ['nonsense', 'Invalid address.'],
      ['me@mailinator.com', 'Please use your real email address.'],
      ['notification-bot@parley.invalid', 'Reserved for system bots.'],
      ['IAGO@zulip.com', 'Already has an account.'],
    ])('rejects the email %s: %s', async (email, msg) => {
      expectRefusal(await to(email), msg);
      expect((await server.get('/users/me', people.hamlet)).body.delivery_email).toBe(people.hamlet.email);
    });

    it('rejects emails of deactivated accounts and outside the domains', async () => {
      const { iago } = people;
      await server.changeUser(iago, { isActive: false });
      expectRefusal(await to(iago.email), 'Account has been deactivated.');
      await server.patch('/realm', people.desdemona, { emails_restricted_to_domains: true });
      expectRefusal(await to('a@example.com'), 'Outside your domain.');
    });

    it('rejects changes by non-administrators if disabled', async () => {
      await server.patch('/realm', people.iago, { email_changes_disabled: true });
      expectRefusal(await to('x@example.com'), 'Email address changes are disabled in this organization.');
      expectRefusal(await to('nonsense', people.iago), 'Invalid address.');
    });
  });

  describe('new_password', () => {
    const NEW = 'a horse that nobody staples 71';
    const change = (old_password: string, new_password = NEW, more = {}) =>
      server.patch('/settings', people.hamlet, { old_password, new_password, ...more });
    const signIn = (password: string) =>
      server.post('/fetch_api_key', null, { username: people.hamlet.email, password });

    it('changes the password and keeps the API key', async () => {
      expect(fieldsOf(await change(people.hamlet.password))).toEqual({});
      expect((await signIn(people.hamlet.password)).status).toBe(401);
      expect(fieldsOf(await signIn(NEW))).toMatchObject({ api_key: people.hamlet.apiKey });
    });

    it.each([
      ['wrong', NEW, 'Wrong password!'],
      ['', NEW, 'Wrong password!'],
      ['pw-hamlet@zulip.com', 'short', 'New password is too weak!'],
      ['pw-hamlet@zulip.com', 'hamlet@zulip.com', 'New password is too weak!'],
    ])('rejects a change from password %j to %j: %s', async (before, after, msg) => {
      expectRefusal(await change(before, after, { enter_sends: true }), msg);
      expect((await signIn(people.hamlet.password)).status).toBe(200);
      expect(await registered(people.hamlet, 'user_settings')).toMatchObject({ enter_sends: false });
    });

    it('validates after the settings and before the name', async () => {
      const bad = { default_language: 'tlh', full_name: '' };
      expectRefusal(await change('wrong', NEW, bad), 'Invalid default_language');
      expectRefusal(await change('wrong', NEW, { full_name: '' }), 'Wrong password!');
    });

    it('ignores an empty password', async () => {
      expect(fieldsOf(await change('wrong', ''))).toEqual({});
    });

    it('limits guesses of the old password', async () => {
      server = await TestServer.start({ hasRateLimits: true });
      ({ people } = server);
      for (let attempt = 0; attempt < 5; attempt++) expectRefusal(await change('wrong'), 'Wrong password!');
      const reply = await change(people.hamlet.password);
      expect(reply.status).toBe(400);
      expect(reply.body.msg).toMatch(/^You're making too many attempts! Try again in \d+ seconds\.$/);
    });
  });

  describe('target_users', () => {
    const changeFor = (target: object, more: object = { enter_sends: true }, as = people.iago) =>
      server.patch('/settings', as, { target_users: { skip_if_already_edited: false, ...target }, ...more });
    const entersSends = async (as: TestUser) => (await registered(as, 'user_settings')).enter_sends;

    it('changes settings of given users and of nested group members with an event each', async () => {
      const { hamlet, cordelia, shiva, iago, polonius } = people;
      const { moderators } = await server.systemGroups();
      const queues = await Promise.all([hamlet, shiva, cordelia].map((who) => openQueue(server, who)));
      expect(fieldsOf(await changeFor({ user_ids: [hamlet.id, polonius.id], group_ids: [moderators] }))).toEqual({});
      const event = { type: 'user_settings', op: 'update', property: 'enter_sends', value: true };
      expect(await Promise.all(queues.map((queue) => eventsAfter(server, queue)))).toEqual([[event], [event], []]);
      expect(await Promise.all([hamlet, polonius, shiva, iago, cordelia].map(entersSends))).toEqual([
        true,
        true,
        true,
        true,
        false,
      ]);
    });

    it('skips users who changed the setting themselves on request', async () => {
      const { hamlet, cordelia } = people;
      await server.patch('/settings', hamlet, { enter_sends: true });
      await server.patch('/settings', hamlet, { enter_sends: false });
      const user_ids = [hamlet.id, cordelia.id];
      await changeFor({ user_ids, skip_if_already_edited: true });
      expect([await entersSends(hamlet), await entersSends(cordelia)]).toEqual([false, true]);
      await changeFor({ user_ids });
      expect([await entersSends(hamlet), await entersSends(cordelia)]).toEqual([true, true]);
    });

    it('includes deactivated users but no bots in groups', async () => {
      const { hamlet, cordelia } = people;
      const bot = { kind: 'generic', ownerId: hamlet.id, isSystem: false, defaultSendingChannelId: null } as const;
      await server.storage.uow.write(hamlet.user.realmId, async (tx) => {
        await tx.users.update({ ...hamlet.user, isActive: false });
        await tx.users.update({ ...cordelia.user, bot });
      });
      const { members } = await server.systemGroups();
      fieldsOf(await changeFor({ group_ids: [members] }));
      const users = await server.storage.uow.read(server.realmId, (r) =>
        r.users.list(server.realmId, [hamlet.id, cordelia.id]),
      );
      expect(users.map(({ settings }) => settings.enterSends)).toEqual([true, false]);
      expectRefusal(await changeFor({ user_ids: [cordelia.id] }), `Invalid user ID: ${cordelia.id}`);
    });

    it.each([
      ['presence_enabled', 'false'],
      ['email_address_visibility', 1],
      ['timezone', 'Europe/Berlin'],
      ['email', 'x@example.com'],
      ['new_password', 'secret'],
      ['send_read_receipts', true],
    ])('rejects changes to %s', async (name, value) => {
      const reply = await changeFor({ user_ids: [people.hamlet.id] }, { [name]: value });
      expectRefusal(reply, 'Cannot change this setting for other users.');
    });

    it('validates in the order of the contract', async () => {
      const { hamlet } = people;
      expectRefusal(
        await server.patch('/settings', hamlet, { target_users: {} }),
        'skip_if_already_edited key is missing from target_users',
      );
      expectRefusal(await changeFor({ extra: 1 }), 'Argument "extra" at target_users["extra"] is unexpected');
      expectRefusal(await changeFor({ user_ids: [] }, {}, hamlet), 'Either user_ids or group_ids must be provided.');
      const elsewhere = await server.addUser({
        email: 'x@example.com',
        fullName: 'X Y',
        realmId: await server.addRealm('other'),
      });
      const unknown = { user_ids: [elsewhere.id], group_ids: [99999] };
      expectRefusal(
        await changeFor(unknown, { timezone: 'Europe/Berlin' }, hamlet),
        'Must be an organization administrator',
        ADMINISTRATORS_ONLY,
      );
      expectRefusal(
        await changeFor(unknown, { timezone: 'Europe/Berlin' }),
        'Cannot change this setting for other users.',
      );
      expectRefusal(await changeFor(unknown), 'Invalid user group ID: 99999');
      expectRefusal(await changeFor({ user_ids: [elsewhere.id] }), `Invalid user ID: ${elsewhere.id}`);
    });
  });
});

describe('PATCH /realm/user_settings_defaults', () => {
  beforeEach(start);

  it('rejects personal settings', async () => {
    const values = Object.fromEntries(
      SETTINGS.filter(([name]) => WITHOUT_DEFAULT.includes(name)).map(([name, , other]) => [name, other]),
    );
    expect(fieldsOf(await server.patch(PATH, people.iago, values))).toEqual({
      ignored_parameters_unsupported: [...WITHOUT_DEFAULT].sort(),
    });
  });

  it.each(['shiva', 'hamlet', 'polonius'] as const)('rejects %s before validating parameters', async (name) => {
    const reply = await server.patch(PATH, people[name], { enter_sends: 'maybe' });
    expectRefusal(reply, 'Must be an organization administrator', ADMINISTRATORS_ONLY);
  });

  it("changes only the caller's organization", async () => {
    const realmId = await server.addRealm('other');
    await server.patch(PATH, people.iago, { enter_sends: true });
    const realm = await server.storage.uow.read(realmId, ({ realms }) => realms.get(realmId));
    expect(realm.userDefaults.enterSends).toBe(false);
  });
});
