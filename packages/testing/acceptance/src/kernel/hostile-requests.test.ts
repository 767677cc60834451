import fc from 'fast-check';
import { serverPerSuite } from '../testing/servers.js';

/** Untrusted input is rejected in JSON and must never cause a 500 or a crash. */
describe('hostile request', () => {
  const { server } = serverPerSuite();

  const path = fc.constantFrom(
    ...['/messages', '/messages/flags', '/messages/flags/narrow', '/messages/render', '/register', '/fetch_api_key'],
    ...[
      '/users',
      '/users/me/subscriptions',
      '/channels/create',
      '/mark_topic_as_read',
      '/events',
      '/%ff',
      '/users/%E0%A4',
    ],
  );
  const name = fc.constantFrom(
    ...['type', 'to', 'topic', 'content', 'messages', 'op', 'flag', 'narrow', 'anchor', 'num_before', 'num_after'],
    ...['event_types', 'client_capabilities', 'subscriptions', 'principals', 'name', 'subscribers', 'widget_content'],
    ...['can_send_message_group', 'message_retention_days', 'queue_id', 'last_event_id', 'method', '__proto__', ''],
  );
  const value = fc.oneof(
    fc.constantFrom('', '1', '-1', '[]', '{}', 'null', '"x"', '[1,2]', '[[1]]', '{"a":1}', 'direct', 'channel', 'add'),
    fc.constantFrom(
      '9'.repeat(40),
      '1e400',
      '[NaN]',
      '{"__proto__":1}',
      '[{"name":"\\u0000"}]',
      '\0',
      '\ufeff',
      '['.repeat(2000),
    ),
    fc.json(),
    fc.string({ unit: 'binary' }),
  );
  const fields = fc.array(fc.tuple(name, value), { maxLength: 6 });

  const form = fields.map((pairs) => ({
    type: 'application/x-www-form-urlencoded',
    body: pairs.map(([key, text]) => `${key}=${encodeURIComponent(Buffer.from(text).toString())}`).join('&'),
  }));
  const json = fields.map((pairs) => ({ type: 'application/json', body: JSON.stringify(Object.fromEntries(pairs)) }));
  const disposition = (key: string) =>
    fc.constantFrom(
      `form-data; name="${key}"`,
      `form-data; name=${key}`,
      `form-data; name="${key}"; filename="f"`,
      'form-data',
      'form-data; filename="f"',
      'x',
    );
  const partHeader = fc.constantFrom('', 'Content-Type: text/plain; charset=bogus\r\n', 'Content-Type: x\r\n');
  const part = fc
    .tuple(name, value, partHeader)
    .chain(([key, text, header]) =>
      disposition(key).map((what) => `--B\r\nContent-Disposition: ${what}\r\n${header}\r\n${text}\r\n`),
    );
  const multipart = fc
    .tuple(fc.array(part, { maxLength: 5 }), fc.constantFrom('--B--\r\n', '--B--', '--B', ''))
    .map(([parts, end]) => ({ type: 'multipart/form-data; boundary=B', body: parts.join('') + end }));
  const broken = fc.tuple(multipart, fc.nat(), fc.string()).map(([{ type, body }, at, junk]) => {
    const cut = at % (body.length + 1);
    return { type, body: body.slice(0, cut) + junk + body.slice(cut + 3) };
  });

  it('is rejected with a normal error', async () => {
    const method = fc.constantFrom('POST', 'POST', 'GET', 'PATCH', 'DELETE');
    const who = fc.boolean();
    await fc.assert(
      fc.asyncProperty(
        method,
        path,
        fc.oneof(form, json, multipart, broken),
        who,
        async (verb, at, { type, body }, isUser) => {
          const reply = await server.request(verb, at, {
            as: isUser ? server.people.hamlet : null,
            body,
            headers: { 'Content-Type': type },
          });
          expect(reply.status).toBeLessThan(500);
          expect(reply.body).toHaveProperty('result');
        },
      ),
      { numRuns: 1500 },
    );
    expect((await server.get('/users/me', server.people.hamlet)).status).toBe(200);
  });
});
