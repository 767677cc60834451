import { fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';

/** An unpaired surrogate is invalid, breaks strict clients and cannot be stored, so it becomes U+FFFD. */
describe('unpaired surrogate', () => {
  const { server } = organizationPerTest();

  const post = (path: string, type: string, body: string | Buffer) =>
    server.request('POST', path, { as: server.people.hamlet, body, headers: { 'Content-Type': type } });
  const sent = async (id: unknown) => (await server.get(`/messages/${id}`, server.people.hamlet)).body;
  const toOneself = () => `"type":"direct","to":[${server.people.hamlet.id}]`;

  it('becomes U+FFFD in JSON bodies, parameter names and the client name', async () => {
    const body = `{${toOneself()},"content":"a\\ud800b 😀 \\ud83d\\ude00","client":"\\udc00x","\\ud800":1}`;
    const { id, ignored_parameters_unsupported } = fieldsOf(await post('/messages', 'application/json', body));
    expect(ignored_parameters_unsupported).toEqual(['\ufffd']);
    const { message, raw_content } = await sent(id);
    expect(raw_content).toBe('a\ufffdb 😀 😀');
    expect(message.client).toBe('\ufffdx');
  });

  it('becomes U+FFFD in JSON inside fields of forms and JSON bodies', async () => {
    const subscriptions = '[{"name":"\\ud800","description":"\\ud83d\\ude00\\ud83d"}]';
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', `subscriptions=${encodeURIComponent(subscriptions)}`],
      ['application/json', `{"subscriptions":${subscriptions}}`],
      ['application/json', JSON.stringify({ subscriptions })],
    ] as const) {
      const { subscribed, already_subscribed } = (await post('/users/me/subscriptions', type, body)).body;
      expect(Object.values({ ...subscribed, ...already_subscribed })).toEqual([['\ufffd']]);
    }
    const { streams } = (await server.get('/streams', server.people.hamlet)).body;
    expect(streams[0]).toMatchObject({ name: '\ufffd', description: '😀\ufffd' });
  });

  it('becomes U+FFFD in multipart bodies of any charset', async () => {
    const part = (name: string, type: string, value: Buffer) =>
      Buffer.concat([
        Buffer.from(`--B\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`),
        value,
        Buffer.from('\r\n'),
      ]);
    const body = Buffer.concat([
      part('type', 'text/plain', Buffer.from('direct')),
      part('to', 'text/plain', Buffer.from(`[${server.people.hamlet.id}]`)),
      part('content', 'text/plain; charset=utf-16le', Buffer.from('a\ud800b', 'utf16le')),
      Buffer.from('--B--\r\n'),
    ]);
    const { id } = fieldsOf(await post('/messages', 'multipart/form-data; boundary=B', body));
    expect((await sent(id)).raw_content).toBe('a\ufffdb');
  });

  it('cannot occur in a path, query, form or header', async () => {
    const { hamlet } = server.people;
    const asBytes = '%ED%A0%80';
    expect((await server.get(`/users/${asBytes}@x.org`, hamlet)).body.msg).toBe('No such user');
    const found = await server.get(`/get_stream_id?stream=${asBytes}&${asBytes}=1`, hamlet);
    expect(found.body.msg).toBe("Invalid channel name '\ufffd\ufffd\ufffd'");
    const form = `type=direct&to=[${hamlet.id}]&content=${asBytes}`;
    const reply = await server.request('POST', '/messages', {
      as: hamlet,
      body: form,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': '\u00ed\u00a0\u0080' },
    });
    const { message, raw_content } = await sent(fieldsOf(reply).id);
    expect(raw_content).toBe('\ufffd\ufffd\ufffd');
    expect(message.client.isWellFormed()).toBe(true);
  });
});
