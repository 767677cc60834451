import { aChannel, aUser, createFixture } from '@parley/testkit';
import { CreateAccessToken, VerifyAccessToken } from './access-tokens.use-cases.js';
import type { LogInTokens } from './log-in-methods.js';

const ORIGIN = 'https://shop.example.com';
const SECRET = 'secret-of-a-new-token';

async function issued() {
  const fixture = await createFixture(aUser({ name: 'ann' }), aChannel({ name: 'town', subscribers: ['ann'] }));
  const { uow, clock, realm } = fixture;
  const digest = (text: string) => `digest of ${text}`;
  const tokens: Pick<LogInTokens, 'make'> = { make: () => SECRET };
  const { token } = await new CreateAccessToken(uow, tokens as LogInTokens, digest, clock).execute(
    fixture.viewer('ann'),
    {
      actions: ['read'],
      conversations: [{ channelId: fixture.channel('town').id, topic: null }],
      origin: ORIGIN,
      seconds: 60,
    },
  );
  const verify = new VerifyAccessToken(uow, digest, clock, () => {});
  return {
    fixture,
    token,
    verify: (text = token, origin: string | null = ORIGIN) => verify.execute(realm.id, text, origin),
  };
}

describe('VerifyAccessToken', () => {
  it('returns the terms of a valid token', async () => {
    const { fixture, verify } = await issued();
    expect(await verify()).toMatchObject({ userId: fixture.user('ann').id, actions: ['read'] });
  });

  it('rejects another secret, another origin and a token that has expired', async () => {
    const { fixture, token, verify } = await issued();
    const invalid = { code: 'UNAUTHENTICATED' };
    await expect(verify(token.replace(SECRET, 'another-secret-of-a-token'))).rejects.toMatchObject(invalid);
    await expect(verify(token, 'https://other.example.com')).rejects.toMatchObject(invalid);
    fixture.clock.advance(60);
    await expect(verify()).rejects.toMatchObject(invalid);
  });

  it('rejects a token of a deactivated user', async () => {
    const { fixture, verify } = await issued();
    const ann = fixture.user('ann');
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...ann, isActive: false }));
    await expect(verify()).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });

  it('rejects a token of a deactivated organization', async () => {
    const { fixture, verify } = await issued();
    await fixture.uow.writeAcross((tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expect(verify()).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
  });
});
