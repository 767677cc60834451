import { fieldsOf } from './testing/expectations.js';
import { TestServer } from './testing/test-server.js';

describe('audit lines', () => {
  const lines: Record<string, unknown>[] = [];
  let server: TestServer;
  beforeAll(async () => {
    const log = (fields: object) => void lines.push(fields as Record<string, unknown>);
    server = await TestServer.start({ logger: { info: () => {}, warn: log, error: log } });
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterAll(() => server.close());

  it('name the actor, the target and the old and new role', async () => {
    const { desdemona, hamlet } = server.people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'administration',
        userId: desdemona.id,
        target: { user_id: String(hamlet.id) },
        changes: { role: { from: 'member', to: 'moderator' } },
      }),
    ]);
  });

  it('name the old and new value of a setting', async () => {
    const { desdemona } = server.people;
    fieldsOf(await server.patch('/realm', desdemona, { invite_required: true, message_retention_days: 30 }));
    expect(lines[0]).toMatchObject({ changes: { messageRetentionDays: { from: null, to: 30 } } });
    const id = await server.createChannel('heath', [desdemona]);
    fieldsOf(await server.patch(`/streams/${id}`, desdemona, { is_private: true }));
    expect(lines.at(-1)).toMatchObject({
      target: { stream_id: String(id) },
      changes: { privacy: { from: 'public', to: 'privateProtectedHistory' } },
    });
  });

  it('name no changes if the operation is refused', async () => {
    await server.patch('/realm', server.people.hamlet, { invite_required: false });
    expect(lines[0]).toMatchObject({ audit: 'administration', userId: server.people.hamlet.id });
    expect(lines[0]).not.toHaveProperty('changes');
  });

  it('name the account of a failed log-in', async () => {
    await server.post('/fetch_api_key', null, { username: 'hamlet@zulip.com', password: 'wrong' });
    await server.get('/users/me', { ...server.people.hamlet, apiKey: 'x'.repeat(32) });
    expect(lines.map(({ audit, account }) => [audit, account])).toEqual([
      ['failed log-in', 'hamlet@zulip.com'],
      ['failed log-in', server.people.hamlet.email],
    ]);
    expect(JSON.stringify(lines)).not.toContain('wrong');
  });
});
