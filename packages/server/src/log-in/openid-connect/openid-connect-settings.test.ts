import { readSetting } from '../../kernel/values.js';
import { OPENID_CONNECT } from './openid-connect-settings.js';

const GITHUB = { name: 'github', kind: 'GitHub', clientId: 'parley', clientSecret: 's' };
const OIDC = { kind: 'OpenID Connect', issuer: 'https://id.example.com' };
const read = (text: string) => readSetting(OPENID_CONNECT.setting.type, text, { name: 'value' });
const parse = (...services: readonly object[]) => read(JSON.stringify(services));

describe('PARLEY_OPENID_CONNECT setting', () => {
  it("uses GitHub's own URL unless another is configured", () => {
    expect(parse(GITHUB)).toMatchObject([{ kind: 'gitHubAuthentication', issuer: 'https://github.com' }]);
    expect(parse({ ...GITHUB, issuer: 'https://git.example.com/' })).toMatchObject([
      { issuer: 'https://git.example.com' },
    ]);
  });

  it.each([
    [{ ...GITHUB, clientSecret: undefined }, 'each with clientSecret'],
    [{ ...GITHUB, kind: 'OpenID Connect' }, 'each with issuer'],
    [{ ...GITHUB, kind: 'Gitea' }, 'value[0].kind must be one of OpenID Connect, Google'],
    [{ ...GITHUB, name: 'host' }, 'value[0].name must be at most 40 lower-case letters'],
    [{ ...GITHUB, issuer: 'http://github.com' }, 'value[0].issuer must be an address with https'],
    [{ ...GITHUB, token: 'x' }, 'value[0] has no property token'],
    [{ ...GITHUB, createPeople: 'yes' }, 'value[0].createPeople must be true or false'],
    [{ ...GITHUB, createPeople: true }, 'createPeople needs allowedDomains'],
    [{ ...GITHUB, requiredGroups: ['chat'] }, 'requiredGroups needs the claim groups'],
    [{ ...GITHUB, ...OIDC, requiredGroups: ['chat'] }, 'requiredGroups needs the claim groups'],
    [{ ...GITHUB, ...OIDC, requiredGroups: [] }, 'value[0].requiredGroups must be an array of at least one'],
    [{ ...GITHUB, defaultRole: 'moderator' }, 'value[0].defaultRole must be one of member, guest, unchanged'],
  ])('rejects %j', (service, words) => {
    expect(() => parse(service)).toThrow(words);
  });

  it('determines who gets an account', () => {
    const restriction = { requiredGroups: ['chat'], claims: { groups: 'groups' } };
    expect(
      parse(
        GITHUB,
        { ...GITHUB, name: 'company', createPeople: true, allowedDomains: ['example.com'] },
        { ...GITHUB, ...OIDC, name: 'groups', createPeople: true, ...restriction },
        { ...GITHUB, ...OIDC, name: 'own', createPeople: true },
        { ...GITHUB, name: 'none', createPeople: false },
      ),
    ).toMatchObject([
      { createsPeople: null, requiredGroups: [] },
      { createsPeople: true },
      { createsPeople: true, requiredGroups: ['chat'] },
      { createsPeople: true },
      { createsPeople: false },
    ]);
  });

  it.each([
    [{}, 'member'],
    [{ defaultRole: 'guest' }, 'guest'],
    [{ defaultRole: 'unchanged' }, null],
  ])('reads the default role from %j', (change, defaultRole) => {
    expect(parse({ ...GITHUB, ...change })).toMatchObject([{ defaultRole }]);
  });

  it('rejects duplicate names', () => {
    expect(() => parse(GITHUB, GITHUB)).toThrow('github is used twice');
  });
});
