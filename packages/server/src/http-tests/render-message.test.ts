import { expectRefusal } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

describe('POST /messages/render', () => {
  let server: TestServer;
  let people: TestServer['people'];
  beforeEach(async () => {
    server = await TestServer.start();
    ({ people } = server);
  });
  afterEach(() => server.close());
  const render = (content: string, as: TestUser = people.hamlet) => server.post('/messages/render', as, { content });

  it('shows what a message would look like, and stores nothing', async () => {
    const { commits } = server.storage;
    expect((await render('so *be* it')).body).toMatchObject({
      result: 'success',
      rendered: '<p>so <em>be</em> it</p>',
    });
    expect(server.storage.commits).toBe(commits);
  });

  it('looks up whom it mentions', async () => {
    const { body } = await render('@**King Hamlet** and @**Nobody Here**');
    expect(body.rendered).toBe(
      `<p><span class="user-mention" data-user-id="${people.hamlet.id}">@King Hamlet</span> and @<strong>Nobody Here</strong></p>`,
    );
  });

  it('accepts nothing, and refuses more than anybody could send', async () => {
    expect((await render('')).body.rendered).toBe('');
    expect((await render('😀'.repeat(10_000))).status).toBe(200);
    for (const content of ['😀'.repeat(10_001), 'a'.repeat(10_001), 'a'.repeat(100_001)]) {
      expectRefusal(await render(content), 'Unable to render message');
    }
  });

  it('needs a text, and somebody who asks', async () => {
    expectRefusal(await server.post('/messages/render', people.hamlet, {}), "Missing 'content' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'content',
    });
  });
});
