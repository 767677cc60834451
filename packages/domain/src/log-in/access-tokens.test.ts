import type { AccessTokenId, ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { type AccessTokenRow, isForOrigin, parseTokenTerms, type TokenTerms, toAccessToken } from './access-tokens.js';

const user = (id: number) => id as UserId;
const channel = { channelId: 7 as ChannelId, topic: ' Support ' };
const TERMS: TokenTerms = { actions: ['read'], conversations: [channel], origin: null, seconds: 60, readers: null };
const parse = (terms: Partial<TokenTerms>) => parseTokenTerms(user(2), { ...TERMS, ...terms });

describe('terms of a token', () => {
  it.each<Partial<TokenTerms>>([
    { actions: ['read', 'write', 'upload'] },
    { conversations: Array(10).fill(channel) },
    { origin: 'http://localhost:3000' },
    { origin: 'https://shop.example.com' },
    { seconds: 10 },
    { seconds: 7_776_000 },
  ])('accept %j', (terms) => {
    expect(parse(terms)[0]).toEqual({ kind: 'channel', channelId: 7, topic: 'Support' });
  });

  it.each<Partial<TokenTerms>>([
    { actions: [] },
    { actions: ['write'] },
    { actions: ['read', 'read'] },
    { actions: ['read', 'own'] },
    { conversations: [] },
    { conversations: Array(11).fill(channel) },
    { origin: '' },
    { origin: 'shop.example.com' },
    { origin: 'ftp://shop.example.com' },
    { origin: 'https://shop.example.com/' },
    { origin: 'https://user@shop.example.com' },
    { seconds: 9 },
    { seconds: 7_776_001 },
    { seconds: Number.NaN },
  ])('reject %j', (terms) => {
    expect(() => parse(terms)).toThrow(expect.objectContaining({ code: 'INVALID_ACCESS_TOKEN' }));
  });

  it('add the user to direct conversations, and keep whole channels', () => {
    const whole = { channelId: 7 as ChannelId, topic: null };
    expect(parse({ conversations: [{ userIds: [user(3), user(1), user(3)] }, whole] })).toEqual([
      { kind: 'direct', userIds: [1, 2, 3] },
      { kind: 'channel', channelId: 7, topic: null },
    ]);
  });
});

describe('a stored token', () => {
  const ROW: AccessTokenRow = {
    id: 5 as AccessTokenId,
    realmId: 1 as RealmId,
    userId: user(2),
    fingerprint: 'f',
    actions: [],
    conversations: [],
    origin: null,
    readers: null,
    createdAt: 0,
    expiresAt: 60,
    lastUsedAt: null,
  };

  it('is read as it was parsed', () => {
    const conversations = parse({
      conversations: [channel, { channelId: channel.channelId, topic: null }, { userIds: [user(1)] }],
    });
    const json = conversations.map((one) => JSON.stringify(one));
    expect(toAccessToken({ ...ROW, actions: ['read', 'write'], conversations: json })).toMatchObject({
      tokenId: 5,
      actions: ['read', 'write'],
      conversations,
    });
  });

  it('grants nothing by damaged parts', () => {
    const damaged = [
      ...['', 'null', '{}', '[]', '{"kind":"channel"}', '{"kind":"channel","channelId":7}', '{"kind":"direct"}'],
      ...['{"kind":"channel","channelId":0,"topic":null}', '{"kind":"direct","userIds":["1"]}'],
      ...['{"kind":"channel","channelId":7,"topic":1}', '{"kind":"other","channelId":7,"topic":null}'],
      '{"kind":"other","userIds":[1]}',
    ];
    const token = toAccessToken({ ...ROW, actions: ['everything'], conversations: damaged });
    expect(token).toMatchObject({ actions: [], conversations: [] });
  });

  it.each([
    [null, null, true],
    [null, 'https://a.example', true],
    ['https://a.example', 'https://a.example', true],
    ['https://a.example', 'https://b.example', false],
    ['https://a.example', null, false],
  ])('is limited to its origin: %s from %s is usable: %s', (origin, from, isUsable) => {
    expect(isForOrigin({ origin }, from)).toBe(isUsable);
  });
});
