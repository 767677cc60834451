import { expectRefusal } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

describe('POST /messages/render', () => {
  const { server, people } = organizationPerTest();
  const render = (content: string, as: TestUser = people.hamlet) => server.post('/messages/render', as, { content });

  it('returns rendered content and stores nothing', async () => {
    const { commits } = server.storage;
    expect((await render('so *be* it')).body).toMatchObject({
      result: 'success',
      rendered: '<p>so <em>be</em> it</p>',
    });
    expect(server.storage.commits).toBe(commits);
  });

  it('resolves mentions', async () => {
    const { body } = await render('@**King Hamlet** and @**Nobody Here**');
    expect(body.rendered).toBe(
      `<p><span class="user-mention" data-user-id="${people.hamlet.id}">@King Hamlet</span> and @<strong>Nobody Here</strong></p>`,
    );
  });

  it('hides inaccessible topics and their ids (contract decision 25)', async () => {
    const { hamlet, cordelia, shiva } = people;
    const created = await server.post('/channels/create', hamlet, {
      name: 'vault',
      subscribers: [hamlet.id],
      invite_only: true,
      send_new_subscription_messages: false,
    });
    const send = (topic: string) =>
      server.post('/messages', hamlet, { type: 'channel', to: 'vault', topic, content: 'hush' });
    const link = async (topic: string, as: TestUser) => (await render(`#**vault>${topic}**`, as)).body.rendered;
    const path = `/#narrow/channel/${created.body.id}-vault/topic`;
    const html = (topic: string, end: string) =>
      `<p><a class="stream-topic" data-stream-id="${created.body.id}" href="${path}/${topic}${end}">#vault &gt; ${topic}</a></p>`;

    const { id } = (await send('plans')).body;
    await server.post('/users/me/subscriptions', hamlet, {
      subscriptions: [{ name: 'vault' }],
      principals: [cordelia.id],
    });
    expect(await link('plans', hamlet)).toBe(html('plans', `/with/${id}`));
    expect(await link('plans', cordelia)).toBe(html('plans', ''));
    expect(await link('nothing', cordelia)).toBe(html('nothing', ''));
    expect(await link('plans', shiva)).toBe('<p>#<strong>vault&gt;plans</strong></p>');
    expect(await link('nothing', shiva)).toBe('<p>#<strong>vault&gt;nothing</strong></p>');

    const later = (await send('plans')).body;
    expect(await link('plans', cordelia)).toBe(html('plans', `/with/${later.id}`));
  });

  it('accepts empty content and rejects content beyond the maximum', async () => {
    expect((await render('')).body.rendered).toBe('');
    expect((await render('😀'.repeat(10_000))).status).toBe(200);
    for (const content of ['😀'.repeat(10_001), 'a'.repeat(10_001), 'a'.repeat(100_001)]) {
      expectRefusal(await render(content), 'Unable to render message');
    }
  });

  it('requires content and credentials', async () => {
    expectRefusal(await server.post('/messages/render', people.hamlet, {}), "Missing 'content' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'content',
    });
  });
});
