import { ReactivateRealm } from '@parley/domain/log-in';
import { DeleteRealmData } from '@parley/domain/realms';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';

const { server, people } = serverPerTest();

const deactivate = (params: object = {}, as = people.desdemona) => server.post('/realm/deactivate', as, { ...params });

describe('POST /realm/deactivate', () => {
  it('ends all access and responds to pending polls', async () => {
    const { queue_id, last_event_id } = fieldsOf(await server.post('/register', people.hamlet, {})) as Record<
      string,
      never
    >;
    const waiting = server.get('/events', people.hamlet, { queue_id, last_event_id });
    fieldsOf(await deactivate());
    const { events } = fieldsOf(await waiting) as { events: object[] };
    expect(events).toEqual([expect.objectContaining({ type: 'realm', op: 'deactivated', realm_id: server.realmId })]);
    const gone = ['This organization has been deactivated', { status: 401, code: 'UNAUTHORIZED' }] as const;
    expectRefusal(await server.get('/users/me', people.desdemona), ...gone);
    const { email, password } = people.hamlet;
    expectRefusal(await server.post('/fetch_api_key', null, { username: email, password }), gone[0], {
      status: 401,
      code: 'REALM_DEACTIVATED',
    });
    // No user was deactivated, so reactivation restores access.
    expect(await server.parley.useCase(ReactivateRealm).execute({ stringId: 'zulip' })).toBe(true);
    expect(await server.parley.useCase(ReactivateRealm).execute({ stringId: 'zulip' })).toBe(false);
    fieldsOf(await server.get('/users/me', people.hamlet));
  });

  it('rejects a deletion time that is too soon', async () => {
    expectRefusal(
      await deactivate({ deletion_delay_days: 13 }),
      'Data deletion time must be at least 14 days in the future.',
    );
    fieldsOf(await server.get('/users/me', people.hamlet));
  });

  describe('scheduled data deletion', () => {
    const deleteDue = () => runJobs(server, server.parley.useCase(DeleteRealmData));
    const realms = async () =>
      (await server.storage.uow.readAcross((r) => r.realms.list())).map(({ stringId }) => stringId);

    it('deletes all data when due without affecting others', async () => {
      const realmId = await server.addRealm('other');
      const outsider = await server.addUser({ email: 'other@example.com', fullName: 'Other', realmId });
      fieldsOf(await server.post('/messages', people.iago, { type: 'direct', to: [people.hamlet.id], content: 'bye' }));
      fieldsOf(await deactivate({ deletion_delay_days: 14 }));
      server.clock.advance(14 * 86_400 - 1);
      await deleteDue();
      expect(await realms()).toEqual(['zulip', 'other']);
      server.clock.advance(1);
      await deleteDue();
      expect(await realms()).toEqual(['other']);
      expect(await server.storage.uow.read(server.realmId, (r) => r.users.listEntries(server.realmId))).toEqual([]);
      fieldsOf(await server.request('GET', '/users/me', { as: outsider, realm: 'other' }));
      await expect(server.parley.useCase(ReactivateRealm).execute({ stringId: 'zulip' })).rejects.toThrow(
        "There is no organization 'zulip'.",
      );
    });

    it('deletes nothing after the organization was reactivated', async () => {
      fieldsOf(await deactivate({ deletion_delay_days: 14 }));
      await server.parley.useCase(ReactivateRealm).execute({ stringId: 'zulip' });
      server.clock.advance(15 * 86_400);
      await deleteDue();
      fieldsOf(await server.get('/users/me', people.hamlet));
    });

    it('keeps all data of an organization without a deletion time', async () => {
      fieldsOf(await deactivate({ deletion_delay_days: 'null' }));
      server.clock.advance(1000 * 86_400);
      await deleteDue();
      expect(await realms()).toEqual(['zulip']);
    });
  });

  it('requires an owner', async () => {
    expectRefusal(await deactivate({}, people.iago), 'Must be an organization owner', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
  });
});

it.each([
  ['free', 'available'],
  ['ab', 'Subdomain needs to have length 3 or greater.'],
  ['-ab', "Subdomain cannot start or end with a '-'."],
  ['ab-', "Subdomain cannot start or end with a '-'."],
  ['aBc', "Subdomain can only have lowercase letters, numbers, and '-'s."],
  ['zulip', 'Subdomain is already in use. Please choose a different one.'],
  ['www', 'Subdomain reserved. Please choose a different one.'],
])('GET /json/realm/subdomain/%s: %s', async (name, msg) => {
  const { status, body } = await server.request('GET', `//json/realm/subdomain/${name}`);
  expect([status, body]).toEqual([200, { result: 'success', msg }]);
});

it.each([
  ['POST', '/calls/zoom/create', {}, 'Zoom credentials have not been configured'],
  ['POST', '/calls/constructorgroups/create', {}, 'Constructor Groups credentials have not been configured'],
  ['POST', '/calls/nextcloud_talk/create', { room_name: 'a' }, 'Nextcloud Talk credentials have not been configured'],
  ['POST', '/calls/webex/create', {}, 'Webex credentials have not been configured'],
])('%s %s rejects calls while the provider is not configured', async (method, path, params, message) => {
  expectRefusal(await server.request(method, path, { as: people.hamlet, params }), message);
});

it("user deactivation invalidates the user's invitations", async () => {
  const { invite_link: link } = fieldsOf(await server.post('/invites/multiuse', people.iago)) as Record<string, never>;
  fieldsOf(await server.delete(`/users/${people.iago.id}`, people.desdemona));
  expect(fieldsOf(await server.get('/invites', people.desdemona)).invites).toEqual([]);
  const reply = await server.post('/invites/accept', null, {
    key: String(link).split('/').at(-2)!,
    email: 'yorick@example.com',
    full_name: 'Yorick',
    password: 'alas, poor yorick 1601',
  });
  expectRefusal(reply, 'The invitation link has expired or been deactivated.');
});
