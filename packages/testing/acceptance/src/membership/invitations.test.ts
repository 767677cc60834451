import type { Email } from '@parley/domain/access';
import { ForgetInvitations, SendInvitationEmails } from '@parley/domain/membership';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let otherOwner: TestUser;
/** Channel in which only administrators may add subscribers. */
let closed: number;
let general: number;
// A link grants access immediately; email confirmation is tested with the pages.
const { server, people } = organizationPerTest({ sendsMail: false });
beforeEach(async () => {
  const realmId = await server.addRealm('other');
  otherOwner = await server.addUser({ email: 'o@other.example', fullName: 'Other', role: 'owner', realmId });
  general = await server.createChannel('general', [], { is_default_stream: true });
  closed = await server.createChannel('closed');
});

const bot = async (as: TestUser) => {
  await server.storage.uow.write(as.user.realmId, (tx) =>
    tx.users.update({
      ...as.user,
      bot: { kind: 'generic', ownerId: people.iago.id, isSystem: false, defaultSendingChannelId: null },
    }),
  );
  return as;
};
const link = (params: object = {}, as = people.desdemona) => server.post('/invites/multiuse', as, { ...params });
const made = async (params: object = {}, as = people.desdemona): Promise<string> =>
  (fieldsOf(await link(params, as)) as Wire).invite_link;
const keyOf = (url: string): string =>
  url
    .split('/')
    .filter((part) => part !== '')
    .at(-1)!;
const invite = (invitee_emails: string, params: object = {}, as = people.hamlet) =>
  server.post('/invites', as, { invitee_emails, stream_ids: [], ...params });
const list = async (as = people.desdemona): Promise<Wire[]> =>
  fieldsOf(await server.get('/invites', as)).invites as Wire;
const newestId = async (): Promise<number> => Math.max(...(await list()).map(({ id }) => id));
const accept = (params: object) =>
  server.post('/invites/accept', null, {
    email: 'yorick@example.com',
    full_name: 'Yorick',
    password: 'alas, poor yorick 1601',
    ...params,
  });
/** Returns the emails that invite to the test's organization. */
const sentEmails = (): readonly Email[] => server.mailer.emails.filter(({ text }) => text.includes(server.url));
/** Sends due emails and returns all. */
const invitationEmails = async (): Promise<readonly Email[]> => {
  await runJobs(server, server.parley.useCase(SendInvitationEmails));
  return sentEmails();
};

const ADMINISTRATOR = 'Must be an organization administrator';
const OWNER = ['Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
const failed = (errors: readonly (readonly [string, string, boolean])[], more = {}) => ({
  code: 'INVITATION_FAILED',
  errors,
  sent_invitations: false,
  license_limit_reached: false,
  daily_limit_reached: false,
  ...more,
});

describe('POST /invites/multiuse', () => {
  it('creates a link that its creator and administrators see in the list', async () => {
    const [queue, member] = [await openQueue(server, people.iago), await openQueue(server, people.hamlet)];
    const url = await made({ invite_expires_in_minutes: 60, invite_as: 600 });
    expect(url).toMatch(new RegExp(`^${server.url}/join/[a-z2-7]{24}/$`));
    const now = server.clock.now();
    const expected = {
      id: 1,
      invited_by_user_id: people.desdemona.id,
      invited: now,
      expiry_date: now + 3600,
      invited_as: 600,
      is_multiuse: true,
      link_url: url,
    };
    expect(await list()).toEqual([expected]);
    expect(await list(people.iago)).toEqual([expected]);
    expect(await list(people.shiva)).toEqual([]);
    expect(fieldsOf(await server.request('GET', '/invites', { as: otherOwner, realm: 'other' }))).toEqual({
      invites: [],
    });
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'invites_changed' }]);
    expect(await eventsAfter(server, member)).toEqual([]);
  });

  it('limits validity to ten days by default, allows unlimited validity and rejects an elapsed one', async () => {
    await made();
    await made({ invite_expires_in_minutes: 'null' });
    await made({ invite_expires_in_minutes: 0 });
    await made({ invite_expires_in_minutes: -5 });
    const now = server.clock.now();
    expect((await list()).map(({ expiry_date }) => expiry_date)).toEqual([now + 864_000, null]);
    server.clock.advance(864_000);
    expect((await list()).map(({ expiry_date }) => expiry_date)).toEqual([null]);
  });

  it.each([
    [{ invite_as: 10 }, notListed('invite_as'), {}],
    [{ stream_ids: [54321] }, 'Invalid channel ID 54321. No invites were sent.', {}],
    [{ group_ids: [99_999] }, 'Invalid user group', {}],
    [
      { welcome_message_custom_text: 'x'.repeat(8001) },
      'welcome_message_custom_text is too long (limit: 8000 characters)',
      {},
    ],
    [{ stream_ids: 'x' }, 'stream_ids is not valid JSON', {}],
  ])('rejects %j: %s', async (params, message, more) => {
    expectRefusal(await link(params), message, more);
    expect(await list()).toEqual([]);
  });

  it("requires permission and rejects roles above the caller's", async () => {
    expectRefusal(await link({}, people.hamlet), 'Insufficient permission');
    expectRefusal(await link({}, people.polonius), 'Not allowed for guest users');
    expectRefusal(await link({ invite_as: 100 }, people.iago), ...OWNER);
    const { moderators } = await server.systemGroups();
    fieldsOf(await server.patch('/realm', people.desdemona, { create_multiuse_invite_group: { new: moderators } }));
    expectRefusal(await link({ invite_as: 200 }, people.shiva), ADMINISTRATOR);
    fieldsOf(await link({ invite_as: 300 }, people.shiva));
    expectRefusal(await link({}, await bot(people.shiva)), 'This endpoint does not accept bot requests.');
  });

  it('allows default channels for any caller and others only with permission to add subscribers', async () => {
    const { administrators, members } = await server.systemGroups();
    fieldsOf(
      await server.patch('/realm', people.desdemona, {
        create_multiuse_invite_group: { new: members },
        can_add_subscribers_group: { new: administrators },
      }),
    );
    fieldsOf(await link({ stream_ids: [general], include_realm_default_subscriptions: true }, people.hamlet));
    expectRefusal(
      await link({ stream_ids: [general, closed] }, people.hamlet),
      'You do not have permission to subscribe other users to channels.',
    );
  });
});

describe('POST /invites', () => {
  it('sends an email to each address and lists these invitations before links', async () => {
    await made();
    const linkId = await newestId();
    const queue = await openQueue(server, people.hamlet);
    fieldsOf(await invite('A <a@x.com>,b@x.com\n c@x.com ,, b@X.com', { invite_expires_in_minutes: 60 }));
    const invites = await list();
    expect(invites.map(({ email, is_multiuse }) => [email, is_multiuse])).toEqual([
      ['a@x.com', false],
      ['b@x.com', false],
      ['c@x.com', false],
      [undefined, true],
    ]);
    const now = server.clock.now();
    expect(invites[0]).toEqual({
      id: linkId + 1,
      invited_by_user_id: people.hamlet.id,
      invited: now,
      expiry_date: now + 3600,
      invited_as: 400,
      is_multiuse: false,
      email: 'a@x.com',
      notify_referrer_on_join: true,
    });
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'invites_changed' }]);
    const sent = await invitationEmails();
    expect(sent.map(({ to }) => to).sort()).toEqual(['a@x.com', 'b@x.com', 'c@x.com']);
    expect(sent[0]).toMatchObject({
      subject: expect.stringMatching(/^King Hamlet has invited you to join Realm zulip/),
    });
    expect(sent[0]!.text).toMatch(new RegExp(`${server.url}/accounts/do_confirm/[a-z2-7]{24}\n`));
    expect(sent[0]!.html).toContain('Complete registration</a>');
    expect(sent[0]!.text).toContain('King Hamlet (hamlet@zulip.com) invites you');
  });

  it("hides the inviter's email if it is not visible to everyone", async () => {
    const { hamlet } = people;
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 3 }));
    fieldsOf(await invite('a@x.com'));
    const [email] = await invitationEmails();
    expect(email!.text).toContain('King Hamlet invites you');
    expect(`${email!.text}${email!.html}`).not.toContain('hamlet@zulip.com');
  });

  const someAreMembers =
    "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send invitations to everyone else!";
  const TAKEN = 'Already has an account.';
  it('invites valid addresses and reports the others', async () => {
    const { hamlet, iago } = people;
    const reply = await invite(`${hamlet.email},a@x.com,${iago.email},b@x.com`);
    expectRefusal(
      reply,
      someAreMembers,
      failed(
        [
          [hamlet.email, TAKEN, false],
          [iago.email, TAKEN, false],
        ],
        { sent_invitations: true },
      ),
    );
    expect((await list()).map(({ email }) => email)).toEqual(['a@x.com', 'b@x.com']);
  });

  it.each([
    ['', 'You must specify at least one email address.', {}],
    [' , \n', 'You must specify at least one email address.', {}],
    [
      'good@x.com,bad',
      "Some emails did not validate, so we didn't send any invitations.",
      failed([['bad', 'Invalid address.', false]]),
    ],
    ['hAmLeT@zUlIp.com', "We weren't able to invite anyone.", failed([['hAmLeT@zUlIp.com', TAKEN, false]])],
    [
      'x@mailinator.com',
      "Some emails did not validate, so we didn't send any invitations.",
      failed([['x@mailinator.com', 'Please use your real email address.', false]]),
    ],
  ])('rejects %j: %s', async (emails, message, more) => {
    expectRefusal(await invite(emails), message, more);
    expect(await list()).toEqual([]);
    expect(await invitationEmails()).toEqual([]);
  });

  it('reports deactivated accounts and system bots', async () => {
    const { cordelia } = people;
    await server.changeUser(cordelia, { isActive: false });
    expectRefusal(
      await invite(`${cordelia.email}`),
      "We weren't able to invite anyone.",
      failed([[cordelia.email, 'Account has been deactivated.', true]]),
    );
  });

  it("rejects addresses outside the organization's domains", async () => {
    await server.post('/realm/domains', people.desdemona, { domain: 'test1.com', allow_subdomains: false });
    await server.patch('/realm', people.desdemona, { emails_restricted_to_domains: true });
    expectRefusal(
      await invite('a@test1.com,b@test2.com,c+d@test1.com'),
      "Some emails did not validate, so we didn't send any invitations.",
      failed([
        ['b@test2.com', 'Outside your domain.', false],
        ['c+d@test1.com', 'Email addresses containing + are not allowed.', false],
      ]),
    );
  });

  it('rejects invitations from new accounts in open organizations', async () => {
    await server.patch('/realm', people.desdemona, { invite_required: false });
    expectRefusal(
      await invite('a@x.com'),
      'Your account is too new to send invites for this organization. Ask an organization admin, or a more experienced user.',
      failed([]),
    );
    fieldsOf(await invite('a@x.com', {}, people.iago));
    server.clock.advance(3 * 86_400);
    fieldsOf(await invite('b@x.com'));
  });

  it('limits invitations to a thousand per day', async () => {
    const today = Math.floor(server.clock.now() / 86_400);
    fieldsOf(await invite('a@x.com'));
    const id = await newestId();
    await server.storage.uow.write(server.realmId, (tx) => tx.invitations.addEmails(server.realmId, today, 998));
    expectRefusal(
      await invite('b@x.com,c@x.com'),
      'To protect users, Zulip limits the number of invitations you can send in one day. Because you have reached the limit, no invitations were sent.',
      failed([], { daily_limit_reached: true }),
    );
    fieldsOf(await invite('b@x.com'));
    const { body } = await server.post(`/invites/${id}/resend`, people.hamlet);
    expect(body).toMatchObject({ code: 'INVITATION_FAILED', daily_limit_reached: true });
  });

  it('sends a reminder two days before the invitation expires', async () => {
    fieldsOf(await invite('a@x.com', { invite_expires_in_minutes: 5 * 1440 }));
    fieldsOf(await invite('b@x.com', { invite_expires_in_minutes: 3 * 1440 }));
    expect(await invitationEmails()).toHaveLength(2);
    server.clock.advance(3 * 86_400);
    const [, , reminder, ...more] = await invitationEmails();
    expect([reminder!.to, more]).toEqual(['a@x.com', []]);
    expect(reminder!.subject).toMatch(/^Reminder: /);
  });

  it('retries when the mail server is down', async () => {
    server.mailer.isDown = true;
    fieldsOf(await invite('a@x.com'));
    await expect(invitationEmails()).rejects.toThrow('The mail server is down');
    expect(sentEmails()).toEqual([]);
    server.mailer.isDown = false;
    expect(await invitationEmails()).toEqual([]);
    server.clock.advance(30);
    expect(await invitationEmails()).toHaveLength(1);
  });
});

describe('revoking and resending invitations', () => {
  const revoke = (path: string | number, as = people.desdemona) => server.delete(`/invites/${path}`, as);

  it('revokes a link and still reports it as revoked', async () => {
    const url = await made();
    const path = `multiuse/${await newestId()}`;
    const queue = await openQueue(server, people.desdemona);
    fieldsOf(await revoke(path, people.iago));
    expect(await list()).toEqual([]);
    expectRefusal(await revoke(path), 'Invitation has already been revoked');
    expectRefusal(await accept({ key: keyOf(url) }), 'The invitation link has expired or been deactivated.');
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'invites_changed' }]);
  });

  it('revokes an email invitation and makes its link unknown', async () => {
    fieldsOf(await invite('a@x.com'));
    await invitationEmails();
    const id = await newestId();
    fieldsOf(await revoke(id, people.hamlet));
    expectRefusal(await revoke(id), 'No such invitation');
    expectRefusal(await server.post(`/invites/${id}/resend`, people.desdemona), 'No such invitation');
    expect(await invitationEmails()).toHaveLength(1);
  });

  it('requires the inviter or an administrator, and an owner for invitations of owners', async () => {
    await made({ invite_as: 100 });
    const linkId = await newestId();
    fieldsOf(await invite('a@x.com'));
    const id = await newestId();
    expectRefusal(await revoke(`multiuse/${linkId}`, people.iago), ...OWNER);
    expectRefusal(await revoke(id, people.cordelia), ADMINISTRATOR);
    expectRefusal(await server.post(`/invites/${id}/resend`, people.cordelia), ADMINISTRATOR);
    expectRefusal(await revoke(id, people.polonius), 'Not allowed for guest users');
    // Ids are unique per kind and organization.
    for (const path of [linkId, `multiuse/${id}`, 9999, 'multiuse/9999'])
      expectRefusal(await revoke(path), 'No such invitation');
    expectRefusal(
      await server.request('DELETE', `/invites/${id}`, { as: otherOwner, realm: 'other' }),
      'No such invitation',
    );
    fieldsOf(await revoke(id, people.iago));
  });

  it('resends the same email', async () => {
    fieldsOf(await invite('a@x.com'));
    const [first] = await invitationEmails();
    fieldsOf(await server.post(`/invites/${await newestId()}/resend`, people.iago));
    const [, second] = (await invitationEmails()) as [Email, Email];
    expect(second).toEqual({ ...first, deliveryId: expect.any(String) });
    // Receivers must not mistake it for a repetition.
    expect(second.deliveryId).not.toBe(first!.deliveryId);
  });

  it('deletes invitations a month after they expired', async () => {
    const url = await made({ invite_expires_in_minutes: 60 });
    server.clock.advance(3600);
    expectRefusal(await accept({ key: keyOf(url) }), 'The invitation link has expired or been deactivated.');
    server.clock.advance(30 * 86_400);
    await runJobs(server, server.parley.useCase(ForgetInvitations));
    expectRefusal(await accept({ key: keyOf(url) }), 'The invitation link could not be found.');
  });
});

describe('POST /invites/accept', () => {
  const subscribed = async (userId: number) =>
    server.storage.uow.read(server.realmId, ({ channels }) =>
      channels.listSubscribedIds(server.realmId, userId as never),
    );
  const textsTo = async (as: { email: string; api_key: string }) => {
    const { messages } = fieldsOf(
      await server.get(
        '/messages',
        { ...people.hamlet, email: as.email, apiKey: as.api_key },
        {
          anchor: 'newest',
          num_before: 100,
          num_after: 0,
          narrow: [{ operator: 'is', operand: 'dm' }],
          apply_markdown: false,
        },
      ),
    ) as Wire;
    return messages.map(({ content, flags }: Wire) => [content, flags.includes('starred')]);
  };

  it('creates an account as the invitation specifies', async () => {
    const groups = await server.systemGroups();
    const { group_id: team } = fieldsOf(
      await server.post('/user_groups/create', people.desdemona, { name: 'team', description: '', members: [] }),
    ) as Wire;
    const say = (content: string) =>
      server.post('/messages', people.desdemona, { type: 'channel', to: closed, topic: 't', content });
    await server.post('/users/me/subscriptions', people.desdemona, { subscriptions: [{ name: 'closed' }] });
    for (let n = 0; n < 22; n++) fieldsOf(await say(`message ${n}`));
    const url = await made({
      invite_as: 300,
      stream_ids: [closed],
      group_ids: [team],
      welcome_message_custom_text: 'Hello *there*',
    });
    const account = fieldsOf(
      await accept({ key: keyOf(url), timezone: 'Europe/Berlin', email_address_visibility: 4 }),
    ) as Wire;
    expect(account).toEqual({
      api_key: expect.stringMatching(/^\w{32}$/),
      email: 'yorick@example.com',
      user_id: expect.any(Number),
    });
    const self = { ...people.hamlet, id: account.user_id, email: account.email, apiKey: account.api_key };
    expect(fieldsOf(await server.get('/users/me', self))).toMatchObject({
      full_name: 'Yorick',
      role: 300,
      timezone: 'Europe/Berlin',
    });
    expect(await subscribed(account.user_id)).toEqual([closed]);
    const direct = await server.storage.uow.read(server.realmId, (r) =>
      r.groups.listDirectIds(server.realmId, account.user_id),
    );
    expect(direct).toEqual([groups.moderators, team].sort((a, b) => a - b));
    const welcome = await textsTo(account);
    expect(welcome.at(-1)).toEqual(['Hello *there*', true]);
    expect(welcome).toHaveLength(2);
    const { messages } = fieldsOf(
      await server.get('/messages', self, {
        anchor: 'newest',
        num_before: 100,
        num_after: 0,
        narrow: [{ operator: 'channel', operand: closed }],
      }),
    ) as Wire;
    expect(messages.map(({ flags }: Wire) => flags.join(' '))).toEqual([
      // The newest 20 of the channel's 22 messages are unread.
      ...Array(messages.length - 20).fill('read historical'),
      ...Array(20).fill('historical'),
    ]);
    // The link remains valid for others.
    fieldsOf(await accept({ key: keyOf(url), email: 'second@example.com', full_name: 'Second' }));
  });

  it('resolves default channels at the time of joining', async () => {
    const [withDefaults, without] = [await made({ include_realm_default_subscriptions: true }), await made()];
    const later = await server.createChannel('later', [], { is_default_stream: true });
    const joined = async (url: string, email: string) =>
      subscribed((fieldsOf(await accept({ key: keyOf(url), email })) as Wire).user_id);
    expect(await joined(withDefaults, 'a@example.com')).toEqual([general, later]);
    expect(await joined(without, 'b@example.com')).toEqual([]);
  });

  describe('joining after the inviter lost permissions (organization §10.3)', () => {
    const EXPIRED = 'The invitation link has expired or been deactivated.';
    const changeRole = async (of: TestUser, role: number) =>
      fieldsOf(await server.patch(`/users/${of.id}`, people.desdemona, { role }));

    it('rejects a link for a role that its author can no longer assign', async () => {
      const key = keyOf(await made({ invite_as: 200 }, people.iago));
      const { members } = await server.systemGroups();
      await server.patch('/realm', people.desdemona, { create_multiuse_invite_group: { new: members } });
      await changeRole(people.iago, 400);
      expectRefusal(await accept({ key }), EXPIRED);
      await changeRole(people.iago, 200);
      fieldsOf(await accept({ key }));
    });

    it('rejects a link from an author who may no longer create links', async () => {
      const key = keyOf(await made({}, people.iago));
      await changeRole(people.iago, 400);
      expectRefusal(await accept({ key }), EXPIRED);
    });

    it('omits channels, groups and texts that the author may no longer offer', async () => {
      const { administrators, members } = await server.systemGroups();
      const { group_id: team } = fieldsOf(
        await server.post('/user_groups/create', people.desdemona, {
          name: 'team',
          description: '',
          members: [],
          can_add_members_group: administrators,
        }),
      ) as Wire;
      const secret = await server.createChannel('secret', [people.iago], { invite_only: true });
      fieldsOf(
        await server.patch('/realm', people.desdemona, {
          create_multiuse_invite_group: { new: members },
          can_add_subscribers_group: { new: administrators },
        }),
      );
      const given = { stream_ids: [general, closed, secret], group_ids: [team], welcome_message_custom_text: 'Mine' };
      const key = keyOf(await made(given, people.iago));
      await server.delete('/users/me/subscriptions', people.iago, { subscriptions: ['secret'] });
      const { user_id: first } = fieldsOf(await accept({ key, email: 'first@example.com' })) as Wire;
      expect(await subscribed(first)).toEqual([general, closed]);
      await changeRole(people.iago, 400);
      const account = fieldsOf(await accept({ key })) as Wire;
      expect(await subscribed(account.user_id)).toEqual([general]);
      const direct = await server.storage.uow.read(server.realmId, (r) =>
        r.groups.listDirectIds(server.realmId, account.user_id),
      );
      expect(direct).not.toContain(team);
      expect((await textsTo(account)).map(([content]: Wire) => content)).not.toContain('Mine');
    });

    it('rejects an emailed invitation and sends no reminder after its author lost the permission to invite', async () => {
      fieldsOf(await invite('yorick@example.com', { invite_expires_in_minutes: 5 * 1440 }));
      const key = keyOf(/do_confirm\/\w+/.exec((await invitationEmails())[0]!.text)![0]);
      const { administrators } = await server.systemGroups();
      await server.patch('/realm', people.desdemona, { can_invite_users_group: { new: administrators } });
      expectRefusal(await accept({ key }), EXPIRED);
      server.clock.advance(3 * 86_400);
      expect(await invitationEmails()).toHaveLength(1);
    });
  });

  it('accepts an emailed link once and only for its address, and notifies the inviter', async () => {
    fieldsOf(await invite('yorick@example.com', { invite_as: 600 }));
    fieldsOf(await invite('other@example.com', { notify_referrer_on_join: false }));
    const emails = await invitationEmails();
    const [first, second] = ['yorick@example.com', 'other@example.com'].map((address) =>
      keyOf(/do_confirm\/\w+/.exec(emails.find(({ to }) => to === address)!.text)![0]),
    );
    const queue = await openQueue(server, people.hamlet, { event_types: ['invites_changed', 'message'] });
    const account = fieldsOf(await accept({ key: first, email: 'somebody@else.com' })) as Wire;
    expect(account.email).toBe('yorick@example.com');
    expectRefusal(await accept({ key: first }), 'The invitation link has expired or been deactivated.');
    fieldsOf(await accept({ key: second }));
    const events = await eventsAfter(server, queue);
    expect(events.map(({ type, message }) => message?.content ?? type)).toEqual([
      'invites_changed',
      expect.stringMatching(/^@_\*\*Yorick\|\d+\*\* accepted your invitation to join Zulip!$/),
      'invites_changed',
    ]);
  });

  it('sends only the introduction if the welcome message is empty', async () => {
    await server.patch('/realm', people.desdemona, { welcome_message_custom_text: 'The usual' });
    const joined = async (params: object, email: string, as = people.desdemona) => {
      const url = await made(params, as);
      return textsTo(fieldsOf(await accept({ key: keyOf(url), email })) as Wire);
    };
    expect(await joined({ welcome_message_custom_text: '' }, 'a@example.com')).toHaveLength(1);
    expect((await joined({}, 'b@example.com')).at(-1)).toEqual(['The usual', true]);
    expect((await joined({ welcome_message_custom_text: 'null' }, 'c@example.com')).at(-1)).toEqual([
      'The usual',
      true,
    ]);
  });

  it.each([
    [{ key: 'short' }, 'The invitation link is malformed.', {}],
    [{ key: 'a'.repeat(24) }, 'The invitation link could not be found.', {}],
    [{ email: 'nonsense' }, 'Enter a valid email address.', {}],
    [{ email: '' }, 'Enter a valid email address.', {}],
    [{ email: 'HAMLET@zulip.com' }, 'HAMLET@zulip.com already has an account', {}],
    [{ email: 'a@mailinator.com' }, 'Please use your real email address.', {}],
    [{ full_name: 'x' }, 'Name too short!', {}],
    [{ full_name: 'a@b' }, 'Invalid characters in name!', {}],
    [{ password: 'short' }, 'The password is too weak.', {}],
    [{ email_address_visibility: 9 }, notListed('email_address_visibility'), {}],
  ])('rejects %j: %s', async (params, message, more) => {
    const key = keyOf(await made());
    expectRefusal(await accept({ key, ...params }), message, more);
    expect((fieldsOf(await server.get('/users', people.iago)) as Wire).members).toHaveLength(6);
  });

  it("applies the organization's rules also to links", async () => {
    const key = keyOf(await made());
    await server.patch('/realm', people.desdemona, { emails_restricted_to_domains: true, require_unique_names: true });
    expectRefusal(
      await accept({ key }),
      'Your email address, yorick@example.com, is not in one of the domains that are allowed to register for accounts in this organization.',
    );
    await server.post('/realm/domains', people.desdemona, { domain: 'example.com', allow_subdomains: false });
    expectRefusal(
      await accept({ key, email: 'a+b@example.com' }),
      'Email addresses containing + are not allowed in this organization.',
    );
    expectRefusal(await accept({ key, full_name: 'king hamlet' }), 'Unique names required in this organization.');
    await server.storage.uow.write(people.cordelia.user.realmId, (tx) =>
      tx.users.update({ ...people.cordelia.user, isActive: false, email: 'c@example.com' }),
    );
    expectRefusal(await accept({ key, email: 'c@example.com' }), 'Account has been deactivated.');
  });

  it('finds only keys of the same organization', async () => {
    const key = keyOf(await made());
    const reply = await server.request('POST', '/invites/accept', {
      realm: 'other',
      params: { key, email: 'a@example.com', full_name: 'Yorick', password: 'alas, poor yorick 1601' },
    });
    expectRefusal(reply, 'The invitation link could not be found.');
  });
});

describe('POST /realm/test_welcome_bot_custom_message', () => {
  const test = (text: string, as = people.iago) =>
    server.post('/realm/test_welcome_bot_custom_message', as, { welcome_message_custom_text: text });

  it('sends administrators a preview of the welcome message', async () => {
    const { message_id: id } = fieldsOf(await test('Hello *there*')) as Wire;
    const { message } = fieldsOf(await server.get(`/messages/${id}`, people.iago)) as Wire;
    expect([message.content, message.sender_full_name]).toEqual(['<p>Hello <em>there</em></p>', 'Welcome Bot']);
  });

  it('rejects an empty message and other callers', async () => {
    expectRefusal(await test(''), 'Message must not be empty');
    expectRefusal(await test('x'.repeat(8001)), 'welcome_message_custom_text is too long (limit: 8000 characters)');
    expectRefusal(await test('x', people.shiva), ADMINISTRATOR, { code: 'UNAUTHORIZED_PRINCIPAL' });
  });
});
