import {
  MAX_REALMS_PER_SERVER,
  MAX_REMOTE_SERVERS,
  MAX_TOKEN_BYTES_PER_SERVER,
  MAX_TOKENS_PER_SERVER,
  PushServer,
  type PushServerStore,
  type RemoteServer,
} from './push-server.js';

const SERVER: RemoteServer = { id: 1, uuid: 'u', keyHash: 'hash', hostname: 'h', contactEmail: 'a@example.com' };
const TOKEN = { kind: 'fcm', token: 'token', iosAppId: null } as const;

/** Creates a push service with this much stored data. */
function serverWith({ servers = 0, realms = 0, tokens = 0, bytes = 0 }) {
  const stored: string[] = [];
  const keep = (what: string) => async () => {
    stored.push(what);
  };
  const store: PushServerStore = {
    findServer: async (uuid) => (uuid === SERVER.uuid ? SERVER : null),
    countServers: async () => servers,
    putServer: keep('server'),
    removeServer: keep('removal'),
    findRealms: async (uuids) => new Map(uuids.includes('known') ? [['known', SERVER.id]] : []),
    countRealms: async () => realms,
    addRealms: keep('realms'),
    putToken: keep('token'),
    findTokens: async (_, __, ids) => (ids?.includes('kept') ? [{ ...TOKEN, token: 'kept', tokenId: 'kept' }] : []),
    removeTokens: keep('removal'),
    usageOf: async () => ({ tokens, bytes }),
    removeDevicesBefore: keep('removal'),
  };
  const keys = { publicKeys: [], open: () => null, tokenIdOf: (token: string) => token };
  const sender = { send: async () => ({ outcome: 'sent', reason: '' }) as const };
  return { stored, server: new PushServer(store, keys, sender, { now: () => 0, nowMs: () => 0 }) };
}

describe('PushServer', () => {
  it('limits the number of servers but lets registered ones change', async () => {
    const { server, stored } = serverWith({ servers: MAX_REMOTE_SERVERS });
    expect(await server.register({ ...SERVER, uuid: 'new' }, null)).toBe('full');
    expect(await server.register(SERVER, null)).toBe(false);
    expect(stored).toEqual(['server']);
  });

  it('limits the number of organizations per server', async () => {
    const { server, stored } = serverWith({ realms: MAX_REALMS_PER_SERVER });
    expect(await server.addRealms(SERVER.id, ['known', 'new'])).toBe('full');
    expect(await server.addRealms(SERVER.id, ['known'])).toBeNull();
    expect(stored).toEqual(['realms']);
  });

  it.each([{ tokens: MAX_TOKENS_PER_SERVER }, { bytes: MAX_TOKEN_BYTES_PER_SERVER - 4 }])(
    'limits the number and length of tokens per server: %j',
    async (usage) => {
      const { server, stored } = serverWith(usage);
      expect(await server.registerToken(SERVER.id, 'known', 'user', TOKEN)).toBe('full');
      expect(stored).toEqual([]);
    },
  );

  it('renews registrations even at the limits', async () => {
    const { server, stored } = serverWith({ tokens: MAX_TOKENS_PER_SERVER, bytes: MAX_TOKEN_BYTES_PER_SERVER });
    expect(await server.registerToken(SERVER.id, 'known', 'user', { ...TOKEN, token: 'kept' })).toBeNull();
    expect(stored).toEqual(['token']);
  });

  it('accepts tokens up to the limits', async () => {
    const { server, stored } = serverWith({
      tokens: MAX_TOKENS_PER_SERVER - 1,
      bytes: MAX_TOKEN_BYTES_PER_SERVER - TOKEN.token.length,
    });
    expect(await server.registerToken(SERVER.id, 'known', 'user', TOKEN)).toBeNull();
    expect(stored).toEqual(['token']);
  });
});
