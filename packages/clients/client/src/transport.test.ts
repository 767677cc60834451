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
});
