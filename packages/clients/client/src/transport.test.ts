import { ParleyClient } from './parley-client.js';

const credentials = { email: 'iago@example.com', apiKey: 'key' };

describe('ParleyClient', () => {
  it.each(['localhost:9991', 'chat.example.com', ''])('rejects the address %j and names the missing scheme', (url) => {
    expect(() => new ParleyClient({ url, credentials })).toThrow(
      new TypeError(`The url must begin with http:// or https://, not "${url}"`),
    );
  });

  it('names the address of a server that cannot be reached', async () => {
    const send = () => Promise.reject(new TypeError('fetch failed'));
    const client = new ParleyClient({ url: 'http://localhost:9991/', credentials, fetch: send, maxRetries: 0 });
    await expect(client.get('/users/me')).rejects.toMatchObject({
      code: 'NO_CONNECTION',
      message: 'The server http://localhost:9991 cannot be reached',
    });
  });

  it.each([
    ['a body', 413, '<h1>Request Entity Too Large</h1>'],
    ['a body', 413, '{"result":"error","msg":"Request body is too large","code":"BAD_REQUEST"}'],
    ['an address', 414, '<h1>Request-URI Too Large</h1>'],
  ])('reports %s that is too large as TOO_LARGE and does not retry it: %i %s', async (_, status, body) => {
    let calls = 0;
    const send = async () => {
      calls++;
      return new Response(body, { status });
    };
    const client = new ParleyClient({ url: 'http://localhost:9991/', credentials, fetch: send });
    await expect(client.get('/users/me')).rejects.toMatchObject({ code: 'TOO_LARGE', status, isTemporary: false });
    expect(calls).toBe(1);
  });
});
