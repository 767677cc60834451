import { parseOpenIdConnect } from './log-in-settings.js';

const GITHUB = { name: 'github', kind: 'GitHub', clientId: 'parley', clientSecret: 's' };
const parse = (...services: readonly object[]) => parseOpenIdConnect(JSON.stringify(services));

describe('services for logging in', () => {
  it('give GitHub its address unless another is configured', () => {
    expect(parse(GITHUB)).toMatchObject([{ kind: 'gitHubAuthentication', issuer: 'https://github.com' }]);
    expect(parse({ ...GITHUB, issuer: 'https://git.example.com/' })).toMatchObject([
      { issuer: 'https://git.example.com' },
    ]);
  });

  it.each([
    [{ ...GITHUB, clientSecret: undefined }, 'each with clientSecret'],
    [{ ...GITHUB, kind: 'OpenID Connect' }, 'each with issuer'],
    [{ ...GITHUB, kind: 'Gitea' }, 'a valid kind'],
    [{ ...GITHUB, name: 'host' }, 'a valid name'],
    [{ ...GITHUB, issuer: 'http://github.com' }, 'a valid issuer'],
    [{ ...GITHUB, token: 'x' }, 'no property token'],
  ])('refuse %j', (service, words) => {
    expect(() => parse(service)).toThrow(words);
  });

  it('have different names', () => {
    expect(() => parse(GITHUB, GITHUB)).toThrow('github is there twice');
  });
});
