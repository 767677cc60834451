import { aChannel, anotherRealm, aUser, createFixture, expectRefused, intercepting } from '@parley/testkit';
import { nobody } from '../kernel/event.js';
import type { AccessTokenId, UserId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import { MAX_ACCESS_TOKENS, TOKEN_USE_SECONDS, type TokenTerms } from './access-tokens.js';
import {
  CreateAccessToken,
  EndAccessToken,
  isAccessToken,
  ListAccessTokens,
  RevokeAccessToken,
  VerifyAccessToken,
} from './access-tokens.use-cases.js';
import type { LogInTokens } from './log-in-methods.js';

const ORIGIN = 'https://shop.example.com';
const SECRET = 'secret-of-a-new-token';
const digest = (text: string) => `digest of ${text}`;
const tokens: Pick<LogInTokens, 'make'> = { make: () => SECRET };

async function world() {
  const fixture = await createFixture(
    aUser({ name: 'ann' }),
    aUser({ name: 'bob' }),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'robot', botOf: 'ann' }),
    aChannel({ name: 'town', subscribers: ['ann'] }),
  );
  const { uow, clock, realm } = fixture;
  const conversations = [{ channelId: fixture.channel('town').id, topic: null }];
  const terms: TokenTerms = { actions: ['read'], conversations, origin: ORIGIN, seconds: 60, readers: null };
  const reported: string[] = [];
  let writes = 0;
  let isBroken = false;
  const counting = intercepting(uow, {
    write: async (work, run) => {
      if (isBroken) throw new Error('The disk is full');
      writes++;
      return run(work);
    },
  });
  const verify = new VerifyAccessToken(counting, digest, clock, (text) => void reported.push(text));
  return {
    fixture,
    reported,
    writes: () => writes,
    breakWrites: () => (isBroken = true),
    create: (name = 'ann', more: Partial<TokenTerms> = {}) =>
      new CreateAccessToken(uow, tokens as LogInTokens, digest, clock).execute(fixture.viewer(name), {
        ...terms,
        ...more,
      }),
    list: (name = 'ann') => new ListAccessTokens(uow, clock).execute(fixture.viewer(name)),
    revoke: (id: AccessTokenId, name = 'ann') => new RevokeAccessToken(uow).execute(fixture.viewer(name), id),
    verify: (token: string, origin: string | null = ORIGIN) => verify.execute(realm.id, token, origin),
    rows: () => uow.read(realm.id, (reads) => reads.accessTokens.list(realm.id, fixture.user('ann').id)),
  };
}
const invalid = { code: 'UNAUTHENTICATED' };

it.each([
  ['parley_1_secret', true],
  ['secret', false],
  ['', false],
])('recognizes an access token: %s', (text, isToken) => {
  expect(isAccessToken(text)).toBe(isToken);
});

describe('CreateAccessToken', () => {
  it('returns a token for people and conversations of the organization', async () => {
    const { fixture, create } = await world();
    const bob = fixture.user('bob').id;
    const { token, conversations } = await create('ann', { conversations: [{ userIds: [bob] }] });
    expect(token).toMatch(/^parley_\d+_secret-of-a-new-token$/);
    expect(conversations).toEqual([{ kind: 'direct', userIds: [fixture.user('ann').id, bob] }]);
  });

  it('refuses deactivated users, bots and conversations that do not exist', async () => {
    const { fixture, create } = await world();
    const other = await anotherRealm(fixture);
    const theirChannel = { channelId: other.channel('theirs').id, topic: null };
    const refused: [string, string, Partial<TokenTerms>][] = [
      ['USER_DEACTIVATED', 'gone', {}],
      ['INVALID_ACCESS_TOKEN', 'robot', {}],
      ['UNKNOWN_CHANNEL', 'ann', { conversations: [theirChannel] }],
      ['UNKNOWN_USER', 'ann', { conversations: [{ userIds: [other.user('otherRealmUser').id] }] }],
      ['UNKNOWN_USER', 'ann', { conversations: [{ userIds: [9999 as UserId] }] }],
    ];
    for (const [code, name, more] of refused) await expectRefused(fixture, () => create(name, more), { code });
  });

  it('counts valid tokens only', async () => {
    const { fixture, create, list } = await world();
    for (let n = 0; n < MAX_ACCESS_TOKENS; n++) await create();
    await expectRefused(fixture, () => create(), { code: 'TOO_MANY_ACCESS_TOKENS' });
    fixture.clock.advance(59);
    expect(await list()).toHaveLength(MAX_ACCESS_TOKENS);
    await expectRefused(fixture, () => create(), { code: 'TOO_MANY_ACCESS_TOKENS' });
    fixture.clock.advance(1);
    expect(await list()).toEqual([]);
    await create();
  });

  it('ends the token at its time, and the clients that use it', async () => {
    const { fixture, create, rows } = await world();
    await create();
    const { uow, clock, storage } = fixture;
    const runner = new JobRunner(new EndAccessToken(), { uow, clock, report: () => {} });
    clock.advance(59);
    await runner.run();
    await runner.settle();
    expect(await rows()).toHaveLength(1);
    clock.advance(1);
    await runner.run();
    await runner.settle();
    expect(await rows()).toEqual([]);
    const ended = { type: 'user.sessions_ended', userId: fixture.user('ann').id };
    expect(storage.announced).toMatchObject([{ event: ended, audience: nobody }]);
  });
});

describe('EndAccessToken', () => {
  it('ignores a token that was revoked', async () => {
    const { fixture, create, revoke } = await world();
    const { tokenId } = await create();
    await revoke(tokenId);
    const work = await new EndAccessToken().prepare({
      realmId: fixture.realm.id,
      payload: { id: tokenId },
    } as unknown as Parameters<EndAccessToken['prepare']>[0]);
    await fixture.uow.write(fixture.realm.id, (tx) => work(tx));
    expect(fixture.storage.announced).toHaveLength(1);
  });
});

describe('RevokeAccessToken', () => {
  it('ends a token of the user, and the clients that use it', async () => {
    const { fixture, create, revoke, verify } = await world();
    const { token, tokenId } = await create();
    await expectRefused(fixture, () => revoke(tokenId, 'bob'), { code: 'UNKNOWN_ACCESS_TOKEN' });
    await expectRefused(fixture, () => revoke(999 as AccessTokenId), { code: 'UNKNOWN_ACCESS_TOKEN' });
    await revoke(tokenId);
    expect(fixture.storage.announced).toMatchObject([{ event: { type: 'user.sessions_ended' }, audience: nobody }]);
    await expect(verify(token)).rejects.toMatchObject(invalid);
  });
});

describe('VerifyAccessToken', () => {
  it('returns the terms of a valid token', async () => {
    const { fixture, create, verify } = await world();
    expect(await verify((await create()).token)).toMatchObject({
      userId: fixture.user('ann').id,
      actions: ['read'],
    });
  });

  it('rejects malformed tokens, another secret, another origin and a token that has expired', async () => {
    const { fixture, create, verify } = await world();
    const { token } = await create();
    const others = ['', 'parley_', 'parley_x_secret', token.replace(SECRET, 'another-secret-of-a-token')];
    for (const other of others) await expect(verify(other)).rejects.toMatchObject(invalid);
    await expect(verify(token, 'https://other.example.com')).rejects.toMatchObject(invalid);
    fixture.clock.advance(60);
    await expect(verify(token)).rejects.toMatchObject(invalid);
  });

  it('rejects a token of a deactivated user', async () => {
    const { fixture, create, verify } = await world();
    const { token } = await create();
    const ann = fixture.user('ann');
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...ann, isActive: false }));
    await expect(verify(token)).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });

  it('rejects a token of a deactivated organization', async () => {
    const { fixture, create, verify } = await world();
    const { token } = await create();
    await fixture.uow.writeAcross((tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expect(verify(token)).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
  });

  it('records the use at most once a minute and token', async () => {
    const { fixture, create, verify, writes, rows } = await world();
    const { token } = await create('ann', { seconds: 600 });
    const { token: other } = await create('ann', { seconds: 600 });
    for (let n = 0; n < 3; n++) await Promise.all([verify(token), verify(token), verify(other)]);
    expect(writes()).toBe(2);
    fixture.clock.advance(TOKEN_USE_SECONDS - 1);
    await verify(token);
    expect(writes()).toBe(2);
    fixture.clock.advance(1);
    await verify(token);
    expect(writes()).toBe(3);
    expect((await rows())[0]).toMatchObject({ lastUsedAt: fixture.clock.now() });
  });

  it('accepts a token if the use cannot be recorded', async () => {
    const { create, verify, reported, breakWrites } = await world();
    const { token } = await create();
    breakWrites();
    await verify(token);
    expect(reported).toEqual(['recording the use of a token failed']);
  });
});
