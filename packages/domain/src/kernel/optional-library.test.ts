import { loadOptional, MissingLibrary } from './optional-library.js';

const notFound = (name: string, code: string) => Object.assign(new Error(`Cannot find package '${name}'`), { code });
const load = (error: Error) => () => loadOptional('ldapts openid-client', 'logins', () => raise(error));
const raise = (error: Error): never => {
  throw error;
};

describe('loadOptional', () => {
  it('returns the library, even from a promise', async () => {
    const library = { Client: 'a class' };
    expect(loadOptional('ldapts', 'ldap', () => library)).toBe(library);
    expect(await loadOptional('ldapts', 'ldap', async () => library)).toBe(library);
    // Exports of a bundled library.
    expect(await loadOptional('ldapts', 'ldap', async () => ({ default: library }))).toBe(library);
  });

  it.each(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])('names the setting and the command on %s', async (code) => {
    const refused = load(notFound('openid-client/browser', code));
    expect(refused).toThrow(MissingLibrary);
    expect(refused).toThrow(/^logins needs a library that is not installed\. Run: npm install ldapts openid-client$/);
    await expect(loadOptional('ldapts', 'ldap', () => Promise.reject(notFound('ldapts', code)))).rejects.toThrow(
      MissingLibrary,
    );
  });

  it('rethrows every other error', () => {
    const errors = [new Error("'ldapts' is broken"), notFound('asn1', 'MODULE_NOT_FOUND')];
    for (const error of errors) expect(load(error)).toThrow(error);
  });
});
